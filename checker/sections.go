package checker

import (
	"cmp"
	"math"
	"slices"
)

// never is the return of an operation without one.
const never = Pos(math.MaxInt)

// cellHistory has the operations on one cell.
type cellHistory struct {
	cell  Cell
	ops   []Op // by invocation
	final string
}

// cellHistories splits a history by cell, in the order of their names. It
// includes cells that only the epilogue names.
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

// cellSection is a read and the write that its client based on it; one of the
// two may be missing.
type cellSection struct {
	read, write *Op
}

// cellSections pairs the operations of one cell: a write belongs to the read
// before it under the same grant, if that read was answered in time and no
// other write was in between. Only reads that returned a value count.
func cellSections(ops []Op) []cellSection {
	var all []cellSection
	open := make(map[int]int) // grant -> its section that waits for a write
	for i := range ops {
		o := &ops[i]
		at, waiting := open[o.Grant]
		switch {
		case o.Kind == Read && o.Outcome == OutcomeOK:
			open[o.Grant] = len(all)
			all = append(all, cellSection{read: o})
		case o.Kind == Write && waiting && all[at].read.Returned <= o.Invoked:
			all[at].write = o
			delete(open, o.Grant)
		case o.Kind == Write:
			all = append(all, cellSection{write: o})
			delete(open, o.Grant)
		}
	}
	return all
}

// unit must take effect at one instant between from and to. It is one of:
//
//   - An acknowledged write, together with the read of its section.
//   - A write of unknown outcome, alone: it may take effect at any time after its
//     invocation, or never.
//   - A read without a following acknowledged write.
//
// Refused writes, and operations that certainly had no effect, are no units.
type unit struct {
	op       *Op
	from, to Pos
	// sure says that it has taken effect; it is false only for a write of
	// unknown outcome.
	sure bool
}

// units returns the units of the operations of one cell, ordered by invocation.
func units(ops []Op) []unit {
	var all []unit
	for _, s := range cellSections(ops) {
		all = append(all, s.units()...)
	}
	return all
}

func (s cellSection) units() []unit {
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

// guardedSection has all operations of a client in one guarded section with
// several writes, in the order of invocation. For sections with one write,
// cellSection is enough.
type guardedSection struct {
	grant  Grant
	ops    []*Op
	writes []*Op // those of ops that are writes, of any outcome
}

// guardedSections splits the operations of each grant into sections. The next
// one begins after the last of [History.SectionWrites] writes, at a second
// write of a register, or at a read of a register that was read or written. The
// sections are in the order in which they began.
func guardedSections(h History) []guardedSection {
	grants := make(map[int]Grant, len(h.Grants))
	for _, g := range h.Grants {
		grants[g.ID] = g
	}
	sorted := slices.Clone(h.Ops)
	slices.SortFunc(sorted, byInvocation)
	var all []guardedSection
	open := make(map[int]int) // grant -> its latest section
	for i := range sorted {
		o := &sorted[i]
		at, begun := open[o.Grant]
		if !begun || all[at].precedes(o, h.SectionWrites) {
			at = len(all)
			open[o.Grant] = at
			all = append(all, guardedSection{grant: grants[o.Grant]})
		}
		all[at].add(o)
	}
	return all
}

// precedes reports whether o, the next operation under the grant, begins a new
// section, if a section makes that many writes.
func (s guardedSection) precedes(o *Op, writes int) bool {
	return len(s.writes) >= writes || slices.ContainsFunc(s.ops, func(p *Op) bool {
		return p.Register == o.Register && (p.Kind == o.Kind || p.Kind == Write)
	})
}

func (s *guardedSection) add(o *Op) {
	s.ops = append(s.ops, o)
	if o.Kind == Write {
		s.writes = append(s.writes, o)
	}
}

// begin is the position at which the section began.
func (s guardedSection) begin() Pos { return s.ops[0].Invoked }

// end is the position at which its last operation was answered; never if a
// write was not.
func (s guardedSection) end() Pos {
	var end Pos
	for _, o := range s.ops {
		if o.Kind == Write && o.Outcome != OutcomeOK {
			return never
		}
		end = max(end, o.Returned)
	}
	return end
}

// byResource splits sections by resource, in the order of the names.
func byResource(sections []guardedSection) [][]guardedSection {
	sorted := slices.Clone(sections)
	slices.SortStableFunc(sorted, func(a, b guardedSection) int { return cmp.Compare(a.grant.Resource, b.grant.Resource) })
	var all [][]guardedSection
	for _, s := range sorted {
		if n := len(all); n > 0 && all[n-1][0].grant.Resource == s.grant.Resource {
			all[n-1] = append(all[n-1], s)
		} else {
			all = append(all, []guardedSection{s})
		}
	}
	return all
}
