package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// fencingFinding is how the fence treated stale and rightful operations.
type fencingFinding struct {
	accepted, rejected, falsely *tally
}

// checkFencing checks each operation. One that never reached the store was
// decided at position 0, before any grant, and so never counts. cells are those
// of the exact check, only for the sentences.
func checkFencing(h History, cells map[Cell]*cellCheck) *fencingFinding {
	f := &fencingFinding{
		accepted: &tally{more: "stale writes that were accepted"},
		rejected: &tally{more: "stale operations that were refused"},
		falsely:  &tally{more: "refusals of a rightful holder"},
	}
	if h.Fence != "" { // see checkFenced
		return f
	}
	standings := standingsOf(h)
	highest := make(map[Resource]Op) // by resource: the accepted operation with the highest token
	for _, o := range opsByStep(h) {
		f.examine(o, standings[o.Grant], highest[o.Resource], cells)
		if o.Accepted && o.Token > highest[o.Resource].Token {
			highest[o.Resource] = o
		}
	}
	return f
}

// examine checks one operation at the instant of the store's decision.
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
		Text: fmt.Sprintf("%s's %s %s%s was refused at step %d, although ", o.Client, o.Kind, o.ID, withToken(o.Token),
			o.Applied),
		At: []Pos{o.Applied},
	}.and(why)
	if o.Token > 0 && highest.Grant != o.Grant && highest.Token >= o.Token {
		r = r.and(Reason{
			Text: fmt.Sprintf(" The highest token that the store had taken by then was %d, of %s.", highest.Token,
				describe(highest)),
			At: []Pos{highest.step()},
		})
	}
	return r
}

// consequence says what a stale operation that was refused would have done, as
// far as that is certain. It may be empty.
func consequence(o Op, cells map[Cell]*cellCheck) Reason {
	k := cells[o.cell()]
	if k == nil {
		return Reason{} // the data is undecided, or was to be filled only
	}
	if o.Kind == Read {
		return k.unread(o)
	}
	return k.unwritten(o)
}

// unwritten says which update would have been lost if the store had accepted
// the write: that of a write on which it is not based, or its own, by a write
// that is not based on it.
func (k *cellCheck) unwritten(o Op) Reason {
	slot, kept := k.slot[o.Saw]
	if !kept || slot == len(k.path) {
		return Reason{}
	}
	w := k.path[slot].op
	switch {
	case w.step() < o.step():
		return Reason{
			Text: fmt.Sprintf(" It is based on %s, so it would have undone %s.", value(o.Saw), describe(*w)),
			At:   []Pos{w.step()},
		}
	case k.readBefore(w, o.step()):
		return Reason{
			Text: fmt.Sprintf(" It would have been undone by %s, which is based on %s too.", describe(*w), value(o.Saw)),
			At:   []Pos{w.step()},
		}
	}
	return Reason{}
}

// readBefore reports whether the section of write w had read the cell by step
// p.
func (k *cellCheck) readBefore(w *Op, p Pos) bool {
	return slices.ContainsFunc(cellSections(k.ops), func(s cellSection) bool {
		return s.write != nil && s.write.ID == w.ID && s.read != nil && s.read.step() < p
	})
}

// unread says that the section of a refused read ended there.
func (k *cellCheck) unread(o Op) Reason {
	if slices.ContainsFunc(k.ops, func(w Op) bool {
		return w.Kind == Write && w.Grant == o.Grant &&
			w.Invoked > o.Invoked
	}) {
		return Reason{}
	}
	return Reason{Text: " Its section ended there, before it wrote."}
}
