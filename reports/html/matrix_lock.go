package html

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/reports/scene"
	"locksim/scenarios/outcome/matrices"
)

// MatrixLock writes the page of a lock: what it promises, the scenarios that broke it
// with the effect of fencing, and the scenarios that it survived. Its errors are those
// of [Matrix], and one for a lock that the matrix does not have.
func MatrixLock(w io.Writer, s MatrixSite, lock string) error {
	column, ok := s.column(lock)
	if !ok {
		return fmt.Errorf("html: the matrix has no lock %q", lock)
	}
	return render(w, "page", lockTemplate, newLockPage(&s, column))
}

var lockTemplate = page("matrix_lock.html")

// lockPage is the data of the template.
type lockPage struct {
	Name, Headline  string
	Index           string
	Specimen        bool
	Tokens          bool
	Nodes           int
	Promise         []scene.PromisePart
	Modes           []fence.Mode
	Counts          labelTable
	Broke, Survived []cellRow
	NotRun          []problemLine
	Others          []pageLink
	CSS             template.CSS
}

func newLockPage(s *MatrixSite, column matrices.Column) *lockPage {
	l, m := s.lock(column.Name), s.Matrix
	p := &lockPage{Name: column.Name, Index: upFromPage + MatrixIndexFile, Specimen: grid.IsSpecimen(column.Name),
		Tokens: column.Tokens,
		Nodes:  l.Nodes, Promise: scene.Promise(l.Promise, l.Tokens), Modes: m.Modes, CSS: matrixCSS()}
	groups := s.ofLock(column.Name)
	p.Headline, p.Counts = grid.LockBalance(groups), newLabelTable(m.Modes, groups)
	for _, g := range groups {
		row := s.lockRow(g, l)
		if g.Unharmed() {
			p.Survived = append(p.Survived, row)
			continue
		}
		p.Broke = append(p.Broke, row)
	}
	slices.SortStableFunc(p.Broke, func(a, b cellRow) int { return cmp.Compare(worst(b), worst(a)) })
	p.NotRun = gapLines(m, func(g matrices.Gap) bool { return g.Lock == column.Name },
		func(g matrices.Gap) string { return "scenario " + g.Scenario })
	for _, c := range m.Locks {
		if c.Name != column.Name {
			p.Others = append(p.Others, pageLink{c.Name, upFromPage + MatrixLockFile(c.Name)})
		}
	}
	return p
}

// ofLock are the groups of a lock, in the order of the scenarios.
func (s *MatrixSite) ofLock(lock string) []grid.Group {
	all := grid.New(s.Matrix)
	var groups []grid.Group
	for _, row := range s.Matrix.Scenarios {
		if group := all.Group(row.Name, lock); len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

func (s *MatrixSite) lockRow(g grid.Group, l matrices.Lock) cellRow {
	name := g[0].Scenario
	r := s.cellRow(g, s.scenario(name), l)
	r.pageLink, r.ID = pageLink{name, upFromPage + MatrixScenarioFile(name)}, rowID(name)
	if row, ok := s.row(name); ok {
		r.Title = row.Title
	}
	return r
}

// worst ranks a row by the label without a fence, and then by its worst label.
func worst(r cellRow) int {
	of := func(modes func(fence.Mode) bool) int {
		n := 0
		for _, c := range r.Cells {
			if modes(c.Mode) {
				n = max(n, c.Label.Severity())
			}
		}
		return n
	}
	return of(func(m fence.Mode) bool { return m == fence.None })*len(checker.Labels())*2 +
		of(func(fence.Mode) bool { return true })
}

// gapLines are the selected pairs without cells.
func gapLines(m *matrices.Matrix, fits func(matrices.Gap) bool, name func(matrices.Gap) string) []problemLine {
	var lines []problemLine
	for _, gap := range slices.Concat(m.Failures, m.NotRun) {
		if fits(gap) {
			lines = append(lines, problemLine{name(gap) + ": " + gap.Why, gap.Replay})
		}
	}
	return lines
}
