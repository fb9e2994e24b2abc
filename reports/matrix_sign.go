package reports

import (
	"locksim/checker"
	"locksim/scenarios/matrix"
)

// sign is how a cell of a matrix looks: one character that says the same
// without colour. Capitals are violations.
type sign struct {
	glyph   string
	name    string
	meaning string
	style   style
}

// vacuousSign stands for a label that proves nothing, whatever the label.
var vacuousSign = sign{"~", "vacuous", "the cell proves nothing, since nobody contended or a fault never fired", warning}

// signs are the signs of the labels, as the legend shows them.
var signs = map[checker.Label]sign{
	checker.Corrupted:     {"X", "corrupted", "the data is wrong: an acknowledged write was lost", styleOf(checker.Corrupted)},
	checker.Unknown:       {"?", "unknown", "a budget ran out before the data was decided", styleOf(checker.Unknown)},
	checker.Stuck:         {"S", "stuck", "nobody could take the lock again, or a key of it was left behind", styleOf(checker.Stuck)},
	checker.FalseReject:   {"F", "false-reject", "the fence refused a client that rightfully held the lock", styleOf(checker.FalseReject)},
	checker.Rescued:       {"r", "rescued", "the fence saved data that the same seed corrupts without it", styleOf(checker.Rescued)},
	checker.Overlap:       {"o", "overlap", "two clients held the lock at once, or believed so; the data is right", styleOf(checker.Overlap)},
	checker.Safe:          {".", "safe", "none of these was seen, which is no proof", styleOf(checker.Safe)},
	checker.NotApplicable: {"-", "n/a", "not run: the mode needs tokens, and the lock mints none", unstyled},
}

// legend is all signs, the worst first.
func legend() []sign {
	var all []sign
	for _, l := range checker.Labels() {
		all = append(all, signs[l])
	}
	return append(all, vacuousSign)
}

func signOf(c matrix.Cell) sign {
	if c.Vacuous != "" {
		return vacuousSign
	}
	if s, ok := signs[c.Label]; ok {
		return s
	}
	return sign{glyph: "?", name: string(c.Label)}
}

// cellGroup is the cells of one scenario and lock, in the order of the modes.
type cellGroup []matrix.Cell

// flag marks a group with a cell that is listed.
const flag = "!"

// cell is the group in signs, and the flag after them where there is a problem.
func (g cellGroup) cell() cell {
	var all cell
	problem := false
	for _, c := range g {
		s := signOf(c)
		all.rest = append(all.rest, cell{text: s.glyph, style: s.style})
		problem = problem || c.Problem() != ""
	}
	if problem {
		all.rest = append(all.rest, cell{text: flag, style: alarm})
	}
	return all
}

// grid finds groups by their row and column.
type grid struct {
	groups map[place]cellGroup
	failed map[place]bool
}

// place is a row and a column.
type place struct{ scenario, lock string }

func newGrid(m *matrix.Matrix) grid {
	g := grid{groups: map[place]cellGroup{}, failed: map[place]bool{}}
	for _, c := range m.Cells {
		at := place{c.Scenario, c.Lock}
		g.groups[at] = append(g.groups[at], c)
	}
	for _, f := range m.Failures {
		g.failed[place{f.Scenario, f.Lock}] = true
	}
	return g
}

// has reports whether there is anything to show.
func (g grid) has(scenario, lock string) bool {
	at := place{scenario, lock}
	return len(g.groups[at]) > 0 || g.failed[at]
}

// cell is what the table shows.
func (g grid) cell(scenario, lock string) cell {
	at := place{scenario, lock}
	if g.failed[at] {
		return cell{text: "FAILED", style: alarm}
	}
	return g.groups[at].cell()
}
