package html

import (
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
)

// cellRow is a row of the table on the page of a lock or of a scenario: the cells of a
// scenario and a lock, with more details.
type cellRow struct {
	pageLink
	ID, Title string
	// Promised says whether the lock promises that claims exclude each other under
	// the faults of the scenario.
	Promised string
	Cells    []cellBox
	Effects  []grid.Effect
	Replays  []string
}

// cellBox is a cell with its details.
type cellBox struct {
	matrixCell
	Seed     uint64
	Seeds    string // k of N, empty where nothing was run
	Expected string // the expected label where it differs, or ""
}

func (s *MatrixSite) cellRow(g grid.Group, sc *file.Scenario, l matrices.Lock) cellRow {
	r := cellRow{Promised: promised(l, sc), Replays: replays(g)}
	if !g.Unharmed() {
		r.Effects = g.Effects()
	}
	for _, c := range g {
		r.Cells = append(r.Cells, s.box(c))
	}
	return r
}

// promised says whether a lock promises anything under the faults of a scenario. It is
// "" for a scenario that is not in Scenarios.
func promised(l matrices.Lock, sc *file.Scenario) string {
	switch {
	case sc == nil:
		return ""
	case len(l.Promise.Exclusion) == 0:
		return "It promises nothing."
	case len(sc.Faults) == 0:
		return "No faults."
	}
	if outside := faults.Unpromised(l.Promise, sc.Faults); len(outside) > 0 {
		return "Faults outside its promise: " + strings.Join(outside, ", ") + "."
	}
	return "All faults are within its promise."
}

func (s *MatrixSite) box(c matrices.Cell) cellBox {
	b := cellBox{matrixCell: s.cell(upFromPage, c), Seeds: grid.KOfN(c)}
	if c.NotFelt == "" {
		b.Label = c.Label
	}
	if c.CellRuns != nil {
		b.Seed = c.Seed
	}
	if c.Match == matrices.TooBad || c.Match == matrices.TooGood {
		b.Expected = string(c.Expected)
	}
	return b
}

// replays are the commands that repeat the runs of a group: one for each seed of its
// cells.
func replays(g grid.Group) []string {
	var out []string
	at := map[uint64]int{}
	for _, c := range g {
		if c.CellRuns == nil {
			continue
		}
		if i, known := at[c.Seed]; known {
			out[i] += "," + string(c.Mode) // a command ends with its modes
			continue
		}
		at[c.Seed] = len(out)
		out = append(out, c.Replay)
	}
	return out
}

// labelTable counts cells by mode and label.
type labelTable struct {
	Labels []checker.Label
	Rows   []grid.ModeCount
}

func newLabelTable(modes []fence.Mode, groups []grid.Group) labelTable {
	var cells []matrices.Cell
	for _, g := range groups {
		cells = append(cells, g...)
	}
	var t labelTable
	t.Labels, t.Rows = grid.ModeCounts(modes, cells)
	return t
}
