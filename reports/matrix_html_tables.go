package reports

import (
	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
)

// cellRow is a row of the table on the page of a lock or of a scenario: what stood
// in one place of the matrix, with more words.
type cellRow struct {
	pageLink
	ID, Title string
	// Within says that the lock promises that claims exclude each other under all
	// faults of the scenario; Outside are those under which it does not.
	Within  bool
	Outside []string
	Cells   []cellBox
	Effects []effect
	Replays []string
}

// cellBox is a cell with all that there is to say of it.
type cellBox struct {
	matrixSpot
	Seed     uint64
	Seeds    string // k of N, empty where nothing was run
	Expected string // what was expected instead, or nothing
}

func (s *MatrixSite) cellRow(g cellGroup, sc *scenarios.Scenario, l scenarios.Lock) cellRow {
	r := cellRow{Effects: g.effects(), Replays: replays(g)}
	if sc != nil {
		r.Within, r.Outside = l.Promises(sc.Faults), l.Unpromised(sc.Faults)
	}
	for _, c := range g {
		r.Cells = append(r.Cells, s.box(c))
	}
	return r
}

func (s *MatrixSite) box(c scenarios.MatrixCell) cellBox {
	b := cellBox{matrixSpot: s.spot(upFromPage, c), Seeds: kOfN(c)}
	b.Label = c.Label
	if c.CellRuns != nil {
		b.Seed = c.Seed
	}
	if c.Match == scenarios.TooBad || c.Match == scenarios.TooGood {
		b.Expected = string(c.Expected)
	}
	return b
}

// replays are the commands that make the runs of a group again: one for each seed
// that a cell speaks of.
func replays(g cellGroup) []string {
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

// countTable is how many cells have which label, by mode.
type countTable struct {
	Labels []checker.Label
	Rows   []modeCount
}

func newCountTable(modes []fence.Mode, groups []cellGroup) countTable {
	var cells []scenarios.MatrixCell
	for _, g := range groups {
		cells = append(cells, g...)
	}
	var t countTable
	t.Labels, t.Rows = modeCounts(modes, cells)
	return t
}
