package scene

import (
	"slices"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// MaxReasons is how many reasons a report shows for the same set of modes, where it
// has to be short.
const MaxReasons = 4

// ReasonGroup is why the verdicts of some modes are what they are: the reasons that
// are true of these modes and of no others.
type ReasonGroup struct {
	Modes []fence.Mode
	Texts []string
}

// Reasons are why the verdicts are what they are. What is true of several modes is
// said once. The groups of the fewest modes come first: they tell the modes apart.
func Reasons(o *play.Outcome) []ReasonGroup {
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
	slices.SortStableFunc(groups, func(a, b ReasonGroup) int { return len(a.Modes) - len(b.Modes) })
	return groups
}

// Name is the modes that the reasons are true of.
func (g ReasonGroup) Name(o *play.Outcome) string {
	if n := len(g.Modes); n > 1 && n == len(Ran(o)) {
		return "all modes"
	}
	return prose.Commas(g.Modes)
}
