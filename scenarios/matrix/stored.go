package matrix

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// storedPlan is a plan as JSON: it has no patterns, so that it means the same to a
// program with other locks.
type storedPlan struct {
	Seeds     outcome.Seeds        `json:"seeds"`
	Modes     []fence.Mode         `json:"modes"`
	Scenarios map[string]storedRow `json:"scenarios"`
}

// storedRow is a scenario, and the locks that play it.
type storedRow struct {
	File   string   `json:"file"`
	Source string   `json:"source"`
	Locks  []string `json:"locks"`
}

// MarshalJSON writes the plan as [ReadPlan] reads it.
func (p *Plan) MarshalJSON() ([]byte, error) {
	s := storedPlan{Seeds: p.opts.Seeds, Modes: p.opts.Modes, Scenarios: map[string]storedRow{}}
	for _, pair := range p.pairs {
		sc := pair.scenario
		row := s.Scenarios[sc.Name]
		row.File, row.Source = sc.File, string(sc.Source)
		row.Locks = append(row.Locks, pair.lock.Name)
		s.Scenarios[sc.Name] = row
	}
	return json.Marshal(s)
}

// ReadPlan reads a plan that was written as JSON. extra are locks that do not come
// with locksim. The error says what is invalid in the plan.
func ReadPlan(data []byte, extra []subject.Lock) (*Plan, error) {
	var s storedPlan
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("this is no plan of a matrix: %w", err)
	}
	p := &Plan{opts: Options{Modes: sortedModes(s.Modes), Seeds: s.Seeds, Extra: extra}, known: knownLocks(extra)}
	if s.Seeds.First > s.Seeds.Last || s.Seeds.Last-s.Seeds.First >= outcome.MaxSeeds || len(s.Modes) == 0 ||
		len(p.opts.Modes) != len(s.Modes) {
		return nil, fmt.Errorf("this plan of a matrix is invalid: %v in the fencing modes %q", s.Seeds, s.Modes)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Scenarios)) {
		row := s.Scenarios[name]
		sc, err := file.Parse(row.File, []byte(row.Source), subject.ServerNames(extra...)...)
		if err != nil {
			return nil, fmt.Errorf("this plan of a matrix is invalid: %w", err)
		}
		if sc.Name != name {
			return nil, fmt.Errorf("this plan of a matrix is invalid: scenario %s is called %s", name, sc.Name)
		}
		var pairs []pair
		for _, lock := range row.Locks {
			l, err := redislocks.Find(lock, extra)
			if err != nil {
				return nil, fmt.Errorf("this plan of a matrix has a lock that this program does not know: %w", err)
			}
			pairs = append(pairs, pair{scenario: sc, lock: l, named: slices.Contains(sc.LockNames(), lock)})
		}
		p.opts.Scenarios = append(p.opts.Scenarios, sc)
		p.addRow(pairs)
	}
	if len(p.pairs) == 0 {
		return nil, ErrEmptyMatrix
	}
	p.planJobs()
	return p, nil
}
