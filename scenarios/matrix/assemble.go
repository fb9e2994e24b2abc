package matrix

import (
	"cmp"
	"slices"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
)

// Answer is the result of a [Job]. It is a value that can be sent to another
// process.
type Answer struct {
	// Tallies has one for each mode of the job. It is empty after an error.
	Tallies []Tally `json:"tallies,omitempty"`
	// Error is why the job did not end. BadInput is the error itself, without its
	// cause, if the user can correct it.
	Error    string           `json:"error,omitempty"`
	BadInput *file.InputError `json:"bad_input,omitempty"`
}

// Refusal is the error of an answer that the user has to correct: the scenario
// itself names a lock that does not suit it. If a lock of the user's does not suit
// some other scenario, that is no error. id is the number of the job.
func (p *Plan) Refusal(id int, a Answer) error {
	if a.BadInput == nil || !p.pairs[p.jobs[id].pair].named {
		return nil
	}
	return a.BadInput
}

// ReplayCommand is the command that repeats some runs of a matrix. scenario is the
// name or the file by which [file.Load] finds it.
type ReplayCommand func(scenario, lock string, seed uint64, modes ...fence.Mode) string

// Assemble combines the answers; answers[i] is the answer to Jobs()[i]. The result
// has no timing yet.
func (p *Plan) Assemble(answers []Answer, replay ReplayCommand) *matrices.Matrix {
	m := &matrices.Matrix{Version: matrices.Version, Seeds: p.opts.Seeds, Modes: p.opts.Modes,
		Cells: []matrices.Cell{}, NotRun: []matrices.Gap{}, Failures: []matrices.Gap{}}
	for i, pair := range p.pairs {
		whole := p.gather(i, answers)
		gap := matrices.Gap{Scenario: pair.scenario.Name, Lock: pair.lock.Name, Why: whole.Error}
		if whole.Error == "" {
			gap.Why = pair.leftOut(whole.Tallies)
			if gap.Why == "" {
				addCells(m, pair, whole.Tallies, replay)
				continue
			}
			gap.Replay = replay(pair.scenario.Reference(), pair.lock.Name, p.opts.Seeds.First, pair.modes(p.opts.Modes)...)
			m.NotRun = append(m.NotRun, gap)
			continue
		}
		if whole.BadInput != nil && !pair.named {
			m.NotRun = append(m.NotRun, gap)
			continue
		}
		gap.Replay = replay(pair.scenario.Reference(), pair.lock.Name, p.opts.Seeds.First, pair.modes(p.opts.Modes)...)
		m.Failures = append(m.Failures, gap)
	}
	frame(m, p)
	m.Expected = len(m.Failures) == 0 && len(m.Problems()) == 0
	return m
}

// gather combines the answers to all jobs of a pair, those of the first seeds
// first.
func (p *Plan) gather(pair int, answers []Answer) Answer {
	var parts []int
	for i, j := range p.jobs {
		if j.pair == pair {
			parts = append(parts, i)
		}
	}
	slices.SortFunc(parts, func(a, b int) int { return cmp.Compare(p.jobs[a].Seeds.First, p.jobs[b].Seeds.First) })
	var whole Answer
	for _, i := range parts {
		if answers[i].Error != "" {
			return answers[i]
		}
		for mode, t := range answers[i].Tallies {
			if mode == len(whole.Tallies) {
				whole.Tallies = append(whole.Tallies, Tally{})
			}
			whole.Tallies[mode].Add(t)
		}
	}
	return whole
}

func addCells(m *matrices.Matrix, p pair, tallies []Tally, replay ReplayCommand) {
	for _, mode := range m.Modes {
		var t Tally
		if i := slices.IndexFunc(tallies, func(t Tally) bool { return t.Mode == mode }); i >= 0 {
			t = tallies[i]
		}
		c := newCell(p.scenario, p.lock.Name, mode, t, m.Seeds)
		if c.CellRuns != nil {
			c.Replay = replay(p.scenario.Reference(), p.lock.Name, c.Seed, mode)
		}
		m.Totals.Add(c)
		m.Cells = append(m.Cells, c)
	}
}

// frame sets the rows and columns of a plan.
func frame(m *matrices.Matrix, p *Plan) {
	m.Scenarios, m.Locks = []matrices.Row{}, []matrices.Column{}
	for i, pair := range p.pairs {
		sc := pair.scenario
		if i == 0 || p.pairs[i-1].scenario != sc {
			m.Scenarios = append(m.Scenarios, matrices.Row{Name: sc.Name, Title: sc.Title, Catalogue: sc.Catalogue,
				File: sc.File, InLibrary: sc.InLibrary()})
		}
	}
	for _, l := range p.Locks() {
		m.Locks = append(m.Locks, matrices.Column{Name: l.Name, Tokens: l.Tokens})
	}
}
