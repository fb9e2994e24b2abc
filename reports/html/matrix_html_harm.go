package html

import (
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/scenarios/matrix"
)

// harmRow is one lock: in how many of its scenarios some seed came to harm, by
// fencing mode.
type harmRow struct {
	pageLink
	Scenarios int
	Modes     []harmCount
}

// harmCount is how many scenarios came to harm in one mode; Ran says whether any
// was run.
type harmCount struct {
	N   int
	Ran bool
}

// harms are the labels that nobody wants to see: wrong data, a lock that nobody
// can take, a rightful holder refused. That data was saved is none.
var harms = []checker.Label{checker.Corrupted, checker.Stuck, checker.FalseReject}

func (s *MatrixSite) harm(locks []pageLink) []harmRow {
	var rows []harmRow
	for _, l := range locks {
		groups := s.ofLock(l.Name)
		row := harmRow{pageLink: l, Scenarios: len(groups)}
		for _, m := range s.Matrix.Modes {
			row.Modes = append(row.Modes, harmIn(groups, m))
		}
		rows = append(rows, row)
	}
	return rows
}

func harmIn(groups []grid.Group, mode fence.Mode) harmCount {
	var n harmCount
	for _, g := range groups {
		i := slices.IndexFunc(g, func(c matrix.Cell) bool { return c.Mode == mode && c.CellRuns != nil })
		if i >= 0 {
			n.Ran = true
			if slices.Contains(harms, g[i].Label) {
				n.N++
			}
		}
	}
	return n
}
