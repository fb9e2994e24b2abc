package scene

import (
	"slices"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// MaxReasons is the number of reasons for the same set of modes in a short report.
const MaxReasons = 4

// ReasonGroup is the reasons of verdicts that hold for the same set of modes.
type ReasonGroup struct {
	Modes []fence.Mode
	Texts []string
}

// Reasons are the reasons of the verdicts, each once with its modes. What holds for all modes comes first, such as who
// had the lock, and then the groups of the fewest modes: they show how the modes differ.
func Reasons(o *outcome.Outcome) []ReasonGroup {
	var texts []string // in the order in which they first appear
	modes := map[string][]fence.Mode{}
	for _, m := range o.Modes {
		for _, r := range m.Verdict.Reasons {
			if modes[r.Text] == nil {
				texts = append(texts, r.Text)
			}
			if !slices.Contains(modes[r.Text], m.Mode) {
				modes[r.Text] = append(modes[r.Text], m.Mode)
			}
		}
	}
	var groups []ReasonGroup
	for _, text := range texts {
		i := slices.IndexFunc(groups, func(g ReasonGroup) bool { return slices.Equal(g.Modes, modes[text]) })
		if i < 0 {
			i, groups = len(groups), append(groups, ReasonGroup{Modes: modes[text]})
		}
		groups[i].Texts = append(groups[i].Texts, text)
	}
	size := func(g ReasonGroup) int { return len(g.Modes) % len(Ran(o)) }
	slices.SortStableFunc(groups, func(a, b ReasonGroup) int { return size(a) - size(b) })
	return groups
}

// Name is the modes of the group as a list, or "all modes".
func (g ReasonGroup) Name(o *outcome.Outcome) string {
	if n := len(g.Modes); n > 1 && n == len(Ran(o)) {
		return "all modes"
	}
	return prose.Commas(g.Modes)
}
