package worlds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// Version is the version of tables as JSON.
const Version = 1

// Table is what became of scenarios in both worlds.
type Table struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Seeds are the seeds of each simulated cell.
	Seeds outcome.Seeds `json:"seeds"`
	// Times is the number of live runs of each cell.
	Times int `json:"times" jsonschema:"minimum=1"`
	// Pairs are the pairs of scenario and lock.
	Pairs []Pair `json:"pairs"`
}

// Pair is a scenario with a lock.
type Pair struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Servers are the kinds of servers that the lock needs.
	Servers []string `json:"servers"`
	// Scale is by what the durations of the live runs are multiplied.
	Scale float64 `json:"scale,omitempty"`
	// Skipped says why the pair was not played live. It is absent if it was.
	Skipped string `json:"skipped,omitempty"`
	// NotPlayed are the faults that the live world lacks, each once. Such a pair has labels, and they are not compared.
	NotPlayed []string `json:"not_played,omitempty"`
	// Problems are the errors of runs without a result.
	Problems []string `json:"problems,omitempty"`
	// Cells has one for each fencing mode.
	Cells []Cell `json:"cells"`
	// Replay is the command that plays it live.
	Replay string `json:"replay"`
}

// Cell is a pair in one fencing mode.
type Cell struct {
	Mode fence.Mode `json:"mode"`
	// Simulated counts the simulated runs by label.
	Simulated map[checker.Label]int `json:"simulated"`
	// Live counts the live runs by label.
	Live map[checker.Label]int `json:"live"`
	// Agrees says that each live label is one of the simulated ones.
	Agrees bool `json:"agrees"`
	// Why says why the worlds differ, if it is known.
	Why string `json:"why,omitempty"`
	// Reason is the first reason of the first live run whose label is no simulated one. It is absent if the worlds agree.
	Reason string `json:"reason,omitempty"`
}

// Compared says that the labels of a pair were compared.
func (p Pair) Compared() bool {
	return p.Skipped == "" && len(p.NotPlayed) == 0 && len(p.Problems) == 0
}

// Open are the cells in which the worlds differ and nothing says why, and the runs without a result, as lines.
func (t *Table) Open() (lines []string) {
	for _, p := range t.Pairs {
		for _, problem := range p.Problems {
			lines = append(lines, fmt.Sprintf("%s with %s: %s", p.Scenario, p.Lock, problem))
		}
		if !p.Compared() {
			continue
		}
		for _, c := range p.Cells {
			if !c.Agrees && c.Why == "" {
				lines = append(lines, fmt.Sprintf("%s with %s in mode %s: simulated %s, live %s", p.Scenario, p.Lock, c.Mode,
					outcome.Labels(c.Simulated), outcome.Labels(c.Live)))
			}
		}
	}
	return lines
}

// Sums are counts over a table.
type Sums struct {
	// Played counts the pairs that were compared, Servers those of them by the kinds of their servers.
	Played  int
	Servers map[string]int
	// Agree, Explained and Open count their cells.
	Agree, Explained, Open int
	// Partly counts the pairs with a fault that the live world lacks, Skipped those that were not played.
	Partly, Skipped int
}

// Sums counts.
func (t *Table) Sums() Sums {
	s := Sums{Servers: map[string]int{}}
	for _, p := range t.Pairs {
		switch {
		case p.Skipped != "":
			s.Skipped++
		case len(p.NotPlayed) > 0:
			s.Partly++
		}
		if !p.Compared() {
			continue
		}
		s.Played++
		s.Servers[strings.Join(p.Servers, "+")]++
		for _, c := range p.Cells {
			switch {
			case c.Agrees:
				s.Agree++
			case c.Why != "":
				s.Explained++
			default:
				s.Open++
			}
		}
	}
	return s
}

// JSON is the table as one indented document.
func (t *Table) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(t); err != nil {
		return nil, fmt.Errorf("write the comparison of both worlds as JSON: %w", err)
	}
	return b.Bytes(), nil
}
