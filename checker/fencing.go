package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// fencingFinding is what the fence did to stale and to rightful operations.
type fencingFinding struct {
	accepted, rejected, falsely *tally
}

// checkFencing looks at each operation. One that never reached the store was
// decided on at position 0, before any grant, and so counts nowhere. cells are
// those of the exact check, for the sentences only.
func checkFencing(h History, cells map[Cell]*cellCheck) *fencingFinding {
	f := &fencingFinding{
		accepted: &tally{more: "stale writes that were accepted"},
		rejected: &tally{more: "stale operations that were refused"},
		falsely:  &tally{more: "refusals of a rightful holder"},
	}
	standings := standingsOf(h)
	highest := make(map[string]Op) // by resource: what the store had taken with the highest token
	for _, o := range opsByStep(h) {
		f.examine(o, standings[o.Grant], highest[o.Resource], cells)
		if o.Accepted && o.Token > highest[o.Resource].Token {
			highest[o.Resource] = o
		}
	}
	return f
}

// examine looks at one operation at the store's instant.
func (f *fencingFinding) examine(o Op, s standing, highest Op, cells map[Cell]*cellCheck) {
	if !o.Accepted && s.rightful(o.Applied) {
		f.falsely.add(func() Reason { return falseRejectReason(o, s.because(o.Applied), highest) })
	}
	switch {
	case !s.stale(o.Applied):
	case !o.Accepted:
		f.rejected.add(func() Reason {
			return staleReason(o, *s.next, "was refused").and(consequence(o, cells))
		})
	case o.Kind == Write:
		f.accepted.add(func() Reason { return staleReason(o, *s.next, "was accepted") })
	}
}

// opsByStep returns the operations in the order in which the store saw them.
func opsByStep(h History) []Op {
	ops := slices.Clone(h.Ops)
	slices.SortFunc(ops, func(a, b Op) int {
		return cmp.Or(cmp.Compare(a.step(), b.step()), byInvocation(a, b))
	})
	return ops
}

func staleReason(o Op, later Grant, fate string) Reason {
	return Reason{
		Text: fmt.Sprintf("%s's stale %s %s%s %s at step %d: %s had been granted %s%s at step %d.",
			o.Client, o.Kind, o.ID, withToken(o.Token), fate, o.Applied,
			later.Client, o.Resource, withToken(later.Token), later.Granted),
		At: []Pos{o.Applied, later.Granted},
	}
}

// falseRejectReason says why the writer was a rightful holder, and what may have
// raised the fence above it.
func falseRejectReason(o Op, why Reason, highest Op) Reason {
	r := Reason{
		Text: fmt.Sprintf("%s's %s %s%s was refused at step %d, although ", o.Client, o.Kind, o.ID, withToken(o.Token), o.Applied),
		At:   []Pos{o.Applied},
	}.and(why)
	if o.Token > 0 && highest.Grant != o.Grant && highest.Token >= o.Token {
		r = r.and(Reason{
			Text: fmt.Sprintf(" The highest token that the store had taken by then was %d, of %s.", highest.Token, describe(highest)),
			At:   []Pos{highest.step()},
		})
	}
	return r
}
