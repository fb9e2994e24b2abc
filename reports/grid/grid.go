// Package grid has the content of the reports of matrices and comparisons: the sign of
// each cell, the effect of fencing, the cells that are not as expected, and what locks
// need and survive, in words.
//
// A [Grid] finds the cells of a scenario and a lock as a [Group]. All formats use the
// same signs.
package grid

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/outcome/matrices"
)

// Sign is how a cell of a matrix looks: one character, which needs no colour to be
// understood. Capitals are violations.
type Sign struct {
	Glyph string
	// Name is a label, "not-felt" or "vacuous".
	Name    string
	Meaning string
}

// VacuousSign is the name of the sign of a cell that proves nothing, with any label.
const VacuousSign = "vacuous"

// signs are the signs of the labels.
var signs = map[checker.Label]Sign{
	checker.Corrupted: {"X", "corrupted", "the data is wrong: an acknowledged write was lost"},
	checker.Unknown:   {"?", "unknown", "a budget ran out before the data was decided"},
	checker.Panicked:  {"P", "panicked", "the code of the lock panicked, which ended the process of a client"},
	checker.Stuck: {"S", "stuck", "no client could take the lock again, a key of it was left, or a client waited " +
		"for itself"},
	checker.Hung: {"H", "hung", "a call other than Acquire had not returned in time, although most servers " +
		"answered"},
	checker.FalseReject: {"F", "false-reject", "the fence refused a client that rightfully held the lock"},
	checker.Void:        {"V", "void", "a grant promised nothing: its lease had ended before its holder released it"},
	checker.Revived: {"R", "revived", "a lease that had ended held again after another client had been granted " +
		"the lock"},
	checker.Misconduct:    {"M", "misconduct", "a call of the lock did not end as the lock promises"},
	checker.Overtaken:     {"O", "overtaken", "the lock promises an order and granted a later request first"},
	checker.Repeated:      {"t", "repeated", "the work for a value was done twice"},
	checker.Regressed:     {"g", "regressed", "the token of a grant was not above those of the grants before it"},
	checker.Rescued:       {"r", "rescued", "the fence saved data that the same seed corrupts without it"},
	checker.Overlap:       {"o", "overlap", "two clients held the lock at once, or believed so; the data is right"},
	checker.Untested:      {"u", "untested", "no client was ever granted the lock: the run says nothing"},
	checker.Safe:          {".", "safe", "none of these was seen, which is no proof"},
	checker.NotApplicable: {"-", "n/a", "not run: the mode needs tokens, and the lock mints none"},
}

var (
	vacuousSign = Sign{"~", VacuousSign, "the cell proves nothing, since no two clients wanted the lock at once or " +
		"a fault never struck"}
	notFeltSign = Sign{"=", "not-felt", "the faults have no effect on this lock: its runs are as without them"}
)

// Legend is all signs, the worst first.
func Legend() []Sign {
	var all []Sign
	for _, l := range checker.Labels() {
		all = append(all, signs[l])
	}
	return append(all, notFeltSign, vacuousSign)
}

// SignOf is the sign of a cell.
func SignOf(c matrices.Cell) Sign {
	if c.Vacuous != "" {
		return vacuousSign
	}
	if c.NotFelt != "" {
		return notFeltSign
	}
	if s, ok := signs[c.Label]; ok {
		return s
	}
	return Sign{Glyph: "?", Name: string(c.Label)}
}

// Word is the label of a cell, or that the lock did not feel the faults.
func Word(c matrices.Cell) string {
	if c.NotFelt != "" {
		return "not felt"
	}
	return string(c.Label)
}

// KOfN is "3/20" where 3 of 20 seeds show the label of a cell, "" where nothing was
// run.
func KOfN(c matrices.Cell) string {
	if c.CellRuns == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", c.SeedsWithLabel, c.Seeds)
}

// Group is the cells of one scenario and lock, in the order of the modes.
type Group []matrices.Cell

// Flag marks a group with a cell that is not as expected, or is vacuous.
const Flag = "!"

// Flagged reports whether the group is marked with [Flag].
func (g Group) Flagged() bool {
	return slices.ContainsFunc(g, func(c matrices.Cell) bool { return c.Problem() != "" })
}

// Grid finds the groups of a matrix by their row and column.
type Grid struct {
	groups map[pair]Group
	failed map[pair]bool
}

// pair is a row and a column.
type pair struct{ scenario, lock string }

// New is the grid of a matrix.
func New(m *matrices.Matrix) Grid {
	g := Grid{groups: map[pair]Group{}, failed: map[pair]bool{}}
	for _, c := range m.Cells {
		at := pair{c.Scenario, c.Lock}
		g.groups[at] = append(g.groups[at], c)
	}
	for _, f := range m.Failures {
		g.failed[pair{f.Scenario, f.Lock}] = true
	}
	return g
}

// Group is the group of a scenario and a lock, nil where they were not run.
func (g Grid) Group(scenario, lock string) Group { return g.groups[pair{scenario, lock}] }

// Failed reports whether the harness could not finish their runs.
func (g Grid) Failed(scenario, lock string) bool { return g.failed[pair{scenario, lock}] }

// Has reports whether they have cells or failed.
func (g Grid) Has(scenario, lock string) bool {
	return len(g.Group(scenario, lock)) > 0 || g.Failed(scenario, lock)
}

// IsSpecimen reports whether a lock is wrong on purpose. Specimens take part in few
// scenarios each, and are listed apart.
func IsSpecimen(lock string) bool { return strings.HasPrefix(lock, "broken/") }

// Evidence says how many runs a matrix is based on.
func Evidence(m *matrices.Matrix) string {
	t := m.Totals
	text := fmt.Sprintf("%s in %s, over %s of virtual time. %s of the runs tested the lock: clients "+
		"contended, every fault struck, and one was felt.",
		prose.Count(t.Runs, "run"), prose.Count(t.Cells, "cell"), prose.Span(t.VirtualSeconds), prose.Thousands(t.NonVacuous))
	if t.NotFelt > 0 {
		text += fmt.Sprintf(" In %s the lock did not feel the faults.", prose.Count(t.NotFelt, "cell"))
	}
	return text
}

// asExpected says in how far there was something to expect.
func asExpected(m *matrices.Matrix) string {
	unasked, ran := 0, 0
	for _, c := range m.Cells {
		if c.CellRuns == nil {
			continue
		}
		ran++
		if c.Match == matrices.NothingExpected {
			unasked++
		}
	}
	switch {
	case unasked == 0:
		return "All cells are as their scenarios expect"
	case unasked == ran:
		return "The scenarios say nothing of what to expect of these cells"
	}
	return fmt.Sprintf("All cells are as their scenarios expect, which say nothing of %s", prose.Count(unasked, "cell"))
}

// Outcome says in a sentence whether a matrix is as expected.
func Outcome(m *matrices.Matrix) string {
	t := m.Totals
	if m.Expected {
		return asExpected(m) + ", and in each the clients contended and every fault struck."
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{
		{t.Worse, "worse than expected"}, {t.Milder, "milder than expected"}, {t.Vacuous, "vacuous"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 cell is "+p.text)
		case p.n > 1:
			parts = append(parts, prose.Thousands(p.n)+" cells are "+p.text)
		}
	}
	if n := len(m.Failures); n > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be run", prose.Count(n, "pair")))
	}
	return strings.Join(parts, "; ") + "."
}
