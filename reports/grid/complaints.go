package grid

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/matrices"
)

// Complaint is a problem of a cell, or of the cells of several modes of one scenario
// and lock that have the same problem.
type Complaint struct {
	Cell  matrices.Cell // of the first mode
	Modes []fence.Mode
	// Replay is the command that repeats the runs, "" where nothing was run.
	Replay string
}

// Complaints are the cells that differ from what is expected or are vacuous.
func Complaints(m *matrices.Matrix) []Complaint {
	var all []Complaint
	for _, c := range m.Problems() {
		if n := len(all) - 1; n >= 0 && all[n].covers(c) {
			all[n].Modes = append(all[n].Modes, c.Mode)
			all[n].Replay += "," + string(c.Mode)
			continue
		}
		all = append(all, Complaint{Cell: c, Modes: []fence.Mode{c.Mode}, Replay: replayOf(c)})
	}
	return all
}

// covers reports whether the cell of another mode has the same problem, with the same
// seed, so that one command, which ends with the modes, replays both.
func (p Complaint) covers(c matrices.Cell) bool {
	return c.Scenario == p.Cell.Scenario && c.Lock == p.Cell.Lock && c.Problem() == p.Cell.Problem() &&
		KOfN(c) == KOfN(p.Cell) &&
		c.CellRuns != nil && c.Seed == p.Cell.Seed && strings.HasSuffix(p.Replay, string(p.Modes[len(p.Modes)-1]))
}

func replayOf(c matrices.Cell) string {
	if c.CellRuns == nil {
		return ""
	}
	return c.Replay
}

// String is the complaint in a sentence.
func (p Complaint) String() string {
	mode := "mode"
	if len(p.Modes) > 1 {
		mode = "modes"
	}
	return fmt.Sprintf("%s, lock %s, %s %s: %s%s", p.Cell.Scenario, p.Cell.Lock, mode, prose.Commas(p.Modes),
		p.Cell.Problem(), p.figures())
}

func (p Complaint) figures() string {
	if p.Cell.CellRuns == nil {
		return ""
	}
	return fmt.Sprintf(" (%s %s)", p.Cell.Label, KOfN(p.Cell))
}
