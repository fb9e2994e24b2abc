package tally

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/promise"
)

// Percent is a rate with two digits: "0.26 %".
func Percent(rate float64) string {
	if rate >= 0.995 {
		return "100 %"
	}
	return fmt.Sprintf("%.2g %%", 100*rate)
}

// Bound is the highest rate of violations by the runs in which a fault of the class
// was felt, as "< 1.4 %". It is "" without such runs.
func (n ClassTally) Bound() string {
	if n.Evidence == 0 {
		return ""
	}
	return "< " + Percent(RateBound(n.Violating, n.Evidence))
}

// Unproven says why the runs are no evidence although clients contended and faults were felt; "" if nothing does: a
// server did not know what it was asked for, or no Release, or no Extend of many, ever succeeded.
func (t *Tally) Unproven() string {
	const many = 20
	c := t.Calls
	switch {
	case len(t.Unknown) > 0:
		return strings.Join(slices.Sorted(maps.Keys(t.Unknown)), "; ") +
			". The lock asks for it, and real servers may have it: test the lock with a form that this version knows"
	case c.Released == 0 && c.NotHeld+c.FailedReleases > 0:
		return fmt.Sprintf("no Release succeeded, of %s", prose.Thousands(c.NotHeld+c.FailedReleases))
	case c.Extended == 0 && c.NotExtended+c.FailedExtends >= many:
		return fmt.Sprintf("no Extend succeeded, of %s", prose.Thousands(c.NotExtended+c.FailedExtends))
	}
	return ""
}

// Doubt says what casts doubt on a lock without a violation, in a sentence; "" if nothing does: in a third of the runs
// that nothing disturbed, and in three at least, a Release returned that the lock was not held.
func (t *Tally) Doubt() string {
	const few, part = 3, 3
	if t.NotHeld < few || t.NotHeld*part < t.Undisturbed {
		return ""
	}
	return fmt.Sprintf("In %s of %s that nothing disturbed, a Release said that the lock was not held, although its "+
		"lease had not ended: the lock loses it by itself, or its Release looks for something else than Acquire has set.",
		prose.Thousands(t.NotHeld), prose.Count(t.Undisturbed, "run"))
}

// WithoutFaults has of the tally of runs without faults what is counted of them too, though they are not drawn.
func (t *Tally) WithoutFaults() Tally {
	return Tally{Undisturbed: t.Undisturbed, NotHeld: t.NotHeld, Connections: t.Connections, PerSecond: t.PerSecond}
}

// Load says in a sentence how many connections clients of the lock had, and how often they asked; "" if that is not
// known.
func (t *Tally) Load() string {
	if t.Connections == 0 {
		return ""
	}
	text := fmt.Sprintf("open connections of a client at the end of a run: at most %s", prose.Thousands(t.Connections))
	if t.PerSecond > 0 {
		text += fmt.Sprintf("; messages that a client sent while it waited: at most %s a second",
			prose.Thousands(t.PerSecond))
	}
	return text
}

// ByCall says how the calls of the lock ended, as "calls: Acquire granted 210, gave up 3; Release succeeded 200, failed
// 7", and on further lines the most frequent errors with which calls ended. It has no lines without calls.
func (t *Tally) ByCall() []string {
	if t.Calls == (checker.Calls{}) {
		return nil
	}
	lines := []string{"calls: " + strings.Join(t.Calls.Texts(), "; ")}
	const most = 5
	for i, e := range t.Errors[:min(len(t.Errors), most)] {
		lines = append(lines, "  "+prose.Pad([]string{"errors:", ""}[min(i, 1)], 8)+e.String())
	}
	return lines
}

// ByClass says for each class of fault that struck how many runs are evidence, with
// the bound on the rate of violations: "pause 210 (< 1.4 %)". A class that was never
// felt comes last, with the reason. It is "" where no fault struck.
func (t *Tally) ByClass() string {
	var felt, unfelt []string
	for _, class := range promise.Faults() {
		switch n := t.Classes[class]; {
		case n.Evidence > 0:
			felt = append(felt, fmt.Sprintf("%s %s (%s)", class, prose.Thousands(n.Evidence), n.Bound()))
		case n.Struck > 0:
			unfelt = append(unfelt, fmt.Sprintf("%s (%s)", class, class.Unfelt()))
		}
	}
	text := strings.Join(felt, ", ")
	if len(unfelt) > 0 {
		text = strings.TrimPrefix(text+"; ", "; ") + "not felt: " + strings.Join(unfelt, ", ")
	}
	return text
}
