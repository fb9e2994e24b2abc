package reports

import (
	"fmt"
	"slices"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// maxReasons is how many reasons the report shows for the same set of modes.
const maxReasons = 4

// reason is a sentence with the modes that it is true of.
type reason struct {
	text  string
	modes []fence.Mode
}

// group is the reasons of one set of modes.
type group struct {
	modes []fence.Mode
	texts []string
}

// reasons is why the verdicts are what they are. What is true of several modes
// is said once.
func reasons(o *play.Outcome, opt Options) []string {
	groups := grouped(gathered(o))
	if len(groups) == 0 {
		return nil
	}
	t := table{sides: []side{left, left}}
	room := opt.Width - 2 - widest(o, groups)
	for _, g := range groups {
		name := g.name(o)
		for _, line := range g.sentences(room) {
			t.row(name, line)
			name = ""
		}
	}
	return append([]string{"why"}, t.lines(opt.Colour)...)
}

// name is the modes that the reasons are true of.
func (g group) name(o *play.Outcome) string {
	if n := len(g.modes); n > 1 && n == len(ran(o)) {
		return "all modes"
	}
	return prose.Commas(g.modes)
}

// sentences are the first reasons, folded, with a hanging indent.
func (g group) sentences(room int) []string {
	var lines []string
	for i, text := range g.texts {
		if i == maxReasons {
			return append(lines, fmt.Sprintf("… and %s, see --json", prose.Count(len(g.texts)-i, "more reason")))
		}
		for j, line := range prose.Fold(prose.Visible(text), room-2) {
			if j > 0 {
				line = "  " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// gathered are the sentences in the order in which they first appear.
func gathered(o *play.Outcome) []reason {
	var all []reason
	for _, m := range o.Modes {
		for _, r := range m.Verdict.Reasons {
			i := slices.IndexFunc(all, func(seen reason) bool { return seen.text == r.Text })
			if i < 0 {
				all = append(all, reason{text: r.Text})
				i = len(all) - 1
			}
			if !slices.Contains(all[i].modes, m.Mode) {
				all[i].modes = append(all[i].modes, m.Mode)
			}
		}
	}
	return all
}

// grouped puts the reasons of the same modes together, those of the fewest
// modes first: they tell the modes apart.
func grouped(all []reason) []group {
	var groups []group
	for _, r := range all {
		i := slices.IndexFunc(groups, func(g group) bool { return slices.Equal(g.modes, r.modes) })
		if i < 0 {
			groups = append(groups, group{modes: r.modes})
			i = len(groups) - 1
		}
		groups[i].texts = append(groups[i].texts, r.text)
	}
	slices.SortStableFunc(groups, func(a, b group) int { return len(a.modes) - len(b.modes) })
	return groups
}

func widest(o *play.Outcome, groups []group) int {
	width := 0
	for _, g := range groups {
		width = max(width, prose.Columns(g.name(o)))
	}
	return width
}
