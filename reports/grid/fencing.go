package grid

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/matrices"
)

// Effect is how the result of some fencing modes differs from that of mode none, for
// a scenario with a lock.
type Effect struct {
	Text  string
	Label checker.Label // the label in these modes
	Modes []fence.Mode
}

// ModeNames is the modes of the effect as a list.
func (e Effect) ModeNames() string { return prose.Commas(e.Modes) }

// base is the cell of mode none; ok is false where that was not run.
func (g Group) base() (c matrices.Cell, ok bool) {
	i := slices.IndexFunc(g, func(c matrices.Cell) bool { return c.Mode == fence.None && c.CellRuns != nil })
	if i < 0 {
		return c, false
	}
	return g[i], true
}

// Effects are the effects of the fences, in the order of the modes. Modes with the
// same effect share one.
func (g Group) Effects() []Effect {
	base, ok := g.base()
	if !ok {
		return nil
	}
	var all []Effect
	for _, c := range g {
		if c.Mode == fence.None || c.CellRuns == nil {
			continue
		}
		says := changed(base.Label, c.Label)
		i := slices.IndexFunc(all, func(e Effect) bool { return e.Text == says })
		if i < 0 {
			i, all = len(all), append(all, Effect{Text: says, Label: c.Label})
		}
		all[i].Modes = append(all[i].Modes, c.Mode)
	}
	return all
}

// changed is the effect of a fence with the worst label b, where the worst label is a
// without a fence.
func changed(a, b checker.Label) string {
	switch {
	case b == checker.Rescued:
		return "data rescued"
	case a == checker.Corrupted && b == checker.Corrupted:
		return "still corrupted"
	case a == b:
		return "no difference"
	case b == checker.FalseReject:
		return "a rightful holder refused"
	case b.Severity() > a.Severity():
		return fmt.Sprintf("worse: %s, and %s without it", b, a)
	}
	return fmt.Sprintf("milder: %s, and %s without it", b, a)
}

// Unharmed reports whether each cell of the group that was run is safe.
func (g Group) Unharmed() bool {
	return !slices.ContainsFunc(g, func(c matrices.Cell) bool { return c.CellRuns != nil && !c.Label.Clean() })
}

// ModeCount is how many cells of one mode have each label.
type ModeCount struct {
	Mode   fence.Mode
	Counts []int // as many as labels
}

// ModeCounts count cells by mode and label. Labels that no cell has are left out.
func ModeCounts(modes []fence.Mode, cells []matrices.Cell) (labels []checker.Label, rows []ModeCount) {
	for _, l := range checker.Labels() {
		if slices.ContainsFunc(cells, func(c matrices.Cell) bool { return c.Label == l }) {
			labels = append(labels, l)
		}
	}
	for _, m := range modes {
		row := ModeCount{Mode: m, Counts: make([]int, len(labels))}
		for _, c := range cells {
			if c.Mode == m {
				row.Counts[slices.Index(labels, c.Label)]++
			}
		}
		rows = append(rows, row)
	}
	return labels, rows
}

// LockBalance says in a sentence or two in how many scenarios the data of a lock is
// corrupted without a fence, and how many of these each fence rescues.
func LockBalance(groups []Group) string { return balanceOf(groups, "scenario", "in") }

// ScenarioBalance says the same of a scenario with some locks.
func ScenarioBalance(groups []Group) string { return balanceOf(groups, "lock", "with") }

func balanceOf(groups []Group, noun, with string) string {
	broken, bases := 0, 0
	saved := map[fence.Mode]int{}
	for _, g := range groups {
		base, ok := g.base()
		bases += oneIf(ok)
		if !ok || base.Label != checker.Corrupted {
			continue
		}
		broken++
		for _, c := range g {
			saved[c.Mode] += oneIf(c.Label == checker.Rescued)
		}
	}
	switch {
	case bases == 0:
		return "Nothing was run without a fence, so there is nothing to compare with."
	case broken == 0:
		return fmt.Sprintf("Without a fence, no data ended corrupted %s %s.", with, prose.Count(bases, noun))
	}
	return fmt.Sprintf("Without a fence, the data ended corrupted %s %d of %s. %s", with, broken, prose.Count(bases, noun),
		rescuers(saved, broken))
}

// rescuers are the modes, with how often each rescued the data.
func rescuers(saved map[fence.Mode]int, broken int) string {
	var parts []string
	for _, m := range fence.Modes() {
		if saved[m] > 0 {
			parts = append(parts, fmt.Sprintf("%d with %s", saved[m], m))
		}
	}
	if len(parts) == 0 {
		return "No fence rescues any of these."
	}
	return fmt.Sprintf("Of these %d, fencing rescues %s.", broken, strings.Join(parts, ", "))
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
