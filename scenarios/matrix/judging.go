package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

// expectedOver are the seeds to which the expectations of a scenario apply.
var expectedOver = outcome.Seeds{First: 1, Last: 20}

// match compares the worst label of some seeds with the label expected of seeds 1
// to 20. Fewer seeds may all be better.
func match(got, want checker.Label, seeds outcome.Seeds) matrices.Match {
	switch {
	case want == "":
		return matrices.NothingExpected
	case got.Severity() > want.Severity():
		return matrices.TooBad
	case got != want && seeds.Cover(expectedOver):
		return matrices.TooGood
	}
	return matrices.AsExpected
}

func newCell(sc *file.Scenario, lock string, mode fence.Mode, t Tally, seeds outcome.Seeds) matrices.Cell {
	c := matrices.Cell{Scenario: sc.Name, Lock: lock, Mode: mode, Label: checker.NotApplicable,
		Expected: sc.Expect[lock][mode]}
	if t.Runs > 0 {
		c.Label = t.Seen[0].Label
		c.CellRuns = newCellRuns(t)
		if n := t.Vacuous[outcome.NotFelt]; c.Label.Clean() && c.NonVacuous == 0 && n > 0 {
			c.NotFelt, c.SeedsWithLabel = unfelt(sc), n
		}
		c.Vacuous = vacuity(sc, c, t)
	}
	c.Match = match(c.Label, c.Expected, seeds)
	return c
}

func newCellRuns(t Tally) *matrices.CellRuns {
	worst := t.Seen[0]
	r := &matrices.CellRuns{SeedsWithLabel: worst.Seeds, Seeds: t.Runs, Seed: worst.Seed, TraceHash: worst.TraceHash,
		Labels: map[checker.Label]int{}, NonVacuous: t.Evidence, Contended: t.Contended, AllFired: t.AllFired,
		PartialPause: t.Partial, TwoClaims: t.TwoClaims, Lost: t.Lost, Events: t.Events,
		VirtualSeconds: t.Virtual.Seconds(), Digest: t.Digest}
	if worst.Label.Clean() {
		r.SeedsWithLabel = worst.NonVacuous
	}
	for _, l := range t.Seen {
		r.Labels[l.Label] = l.Seeds
	}
	for i, n := range t.Fired {
		if n == 0 {
			r.NeverFired = append(r.NeverFired, i+1)
		}
	}
	return r
}

// unfelt says of each class of fault in a scenario what it takes to feel it.
func unfelt(sc *file.Scenario) string {
	var why []string
	for _, f := range sc.Faults {
		why = append(why, faults.ClassIn(sc.Faults, f.Action).Unfelt())
	}
	slices.Sort(why)
	return strings.Join(slices.Compact(why), "; ")
}

// vacuity is why a label proves nothing. A violation proves itself: a lock that
// stays stuck needs no contention, and no fault has to fire. Every other label also
// says that nothing worse was seen, which counts only if every fault of the
// schedule fired. A safe cell counts only if there is one run that is evidence, or
// if the lock cannot feel the faults.
func vacuity(sc *file.Scenario, c matrices.Cell, t Tally) string {
	switch c.Label {
	case checker.Corrupted, checker.Panicked, checker.Stuck, checker.Hung, checker.FalseReject, checker.Void,
		checker.Revived, checker.Misconduct, checker.Overtaken:
		return ""
	}
	var why []string
	for _, n := range c.NeverFired {
		why = append(why, fmt.Sprintf("fault %d never fired (%v)", n, sc.Faults[n-1]))
	}
	if c.Label.Clean() && c.NonVacuous == 0 && c.NotFelt == "" && len(why) == 0 {
		why = slices.Sorted(maps.Keys(t.Vacuous))
	}
	return strings.Join(why, "; ")
}

// sortedModes are modes in the order of fence.Modes, each once.
func sortedModes(modes []fence.Mode) []fence.Mode {
	var out []fence.Mode
	for _, m := range fence.Modes() {
		if slices.Contains(modes, m) {
			out = append(out, m)
		}
	}
	return out
}
