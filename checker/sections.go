package checker

import (
	"cmp"
	"math"
	"slices"
)

// never is the return of something that has none.
const never = Pos(math.MaxInt)

// cellHistory is what happened to one cell.
type cellHistory struct {
	cell  Cell
	ops   []Op // by invocation
	final string
}

// cellHistories splits a history by cell, in the order of their names. Cells
// that only the epilogue names are there too.
func cellHistories(h History) []cellHistory {
	byCell := make(map[Cell]*cellHistory, len(h.Final))
	var all []*cellHistory
	at := func(c Cell) *cellHistory {
		if byCell[c] == nil {
			byCell[c] = &cellHistory{cell: c, final: h.Final[c]}
			all = append(all, byCell[c])
		}
		return byCell[c]
	}
	for c := range h.Final {
		at(c)
	}
	for _, o := range h.Ops {
		c := at(o.cell())
		c.ops = append(c.ops, o)
	}
	slices.SortFunc(all, func(a, b *cellHistory) int {
		return cmp.Or(cmp.Compare(a.cell.Resource, b.cell.Resource), cmp.Compare(a.cell.Register, b.cell.Register))
	})
	sorted := make([]cellHistory, len(all))
	for i, c := range all {
		slices.SortFunc(c.ops, byInvocation)
		sorted[i] = *c
	}
	return sorted
}

func byInvocation(a, b Op) int {
	return cmp.Or(cmp.Compare(a.Invoked, b.Invoked), cmp.Compare(a.ID, b.ID))
}

// section is a read and the write that its client based on it; one of the two
// may be missing.
type section struct {
	read, write *Op
}

// sections pairs the operations of one cell: a write belongs to the read that
// went before it under the same grant, if that read was answered in time and
// no other write came between. Only reads that brought a value take part.
func sections(ops []Op) []section {
	var all []section
	open := make(map[int]int) // grant -> its section that waits for a write
	for i := range ops {
		o := &ops[i]
		at, waiting := open[o.Grant]
		switch {
		case o.Kind == Read && o.Outcome == OutcomeOK:
			open[o.Grant] = len(all)
			all = append(all, section{read: o})
		case o.Kind == Write && waiting && all[at].read.Returned <= o.Invoked:
			all[at].write = o
			delete(open, o.Grant)
		case o.Kind == Write:
			all = append(all, section{write: o})
			delete(open, o.Grant)
		}
	}
	return all
}

// unit is what must take effect at one instant between from and to.
//
//   - An acknowledged write, together with the read of its section.
//   - A write of unknown outcome, alone: it may take effect at any time after its
//     invocation, or never.
//   - A read that no acknowledged write followed.
//
// Refused writes, and whatever certainly did nothing, are no units.
type unit struct {
	op       *Op
	from, to Pos
	// sure says that it has taken effect; only a write of unknown outcome is not.
	sure bool
}

// units returns what the operations of one cell, ordered by invocation, come to.
func units(ops []Op) []unit {
	var all []unit
	for _, s := range sections(ops) {
		all = append(all, s.units()...)
	}
	return all
}

func (s section) units() []unit {
	if s.write != nil && s.write.Outcome == OutcomeOK {
		from := s.write.Invoked
		if s.read != nil {
			from = s.read.Invoked
		}
		return []unit{{op: s.write, from: from, to: s.write.Returned, sure: true}}
	}
	var all []unit
	if s.read != nil {
		all = append(all, unit{op: s.read, from: s.read.Invoked, to: s.read.Returned, sure: true})
	}
	if s.write != nil && s.write.Outcome == OutcomeUnknown {
		all = append(all, unit{op: s.write, from: s.write.Invoked, to: never})
	}
	return all
}
