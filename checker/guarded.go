package checker

import (
	"cmp"
	"slices"
)

// guarded is everything that a client did in one guarded section with several
// writes, in the order of invocation. Where a section makes one write, the
// section of a cell, which knows nothing of other cells, says it all.
type guarded struct {
	grant  Grant
	ops    []*Op
	writes []*Op // those of ops that are writes, whatever became of them
}

// guardedSections splits the operations of each grant into sections. The next one
// begins behind the last of [History.SectionWrites] writes, and where a register is
// written again, or read that was read or written. The sections stand in the order
// in which they began.
func guardedSections(h History) []guarded {
	grants := make(map[int]Grant, len(h.Grants))
	for _, g := range h.Grants {
		grants[g.ID] = g
	}
	sorted := slices.Clone(h.Ops)
	slices.SortFunc(sorted, byInvocation)
	var all []guarded
	open := make(map[int]int) // grant -> its latest section
	for i := range sorted {
		o := &sorted[i]
		at, begun := open[o.Grant]
		if !begun || all[at].precedes(o, h.SectionWrites) {
			at = len(all)
			open[o.Grant] = at
			all = append(all, guarded{grant: grants[o.Grant]})
		}
		all[at].add(o)
	}
	return all
}

// precedes says that o, the next operation under the grant, begins a new section,
// where one makes so many writes.
func (s guarded) precedes(o *Op, writes int) bool {
	return len(s.writes) >= writes || slices.ContainsFunc(s.ops, func(p *Op) bool {
		return p.Register == o.Register && (p.Kind == o.Kind || p.Kind == Write)
	})
}

func (s *guarded) add(o *Op) {
	s.ops = append(s.ops, o)
	if o.Kind == Write {
		s.writes = append(s.writes, o)
	}
}

// begin is where the section was begun.
func (s guarded) begin() Pos { return s.ops[0].Invoked }

// end is where its last operation was answered; never when a write was not.
func (s guarded) end() Pos {
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
func byResource(sections []guarded) [][]guarded {
	sorted := slices.Clone(sections)
	slices.SortStableFunc(sorted, func(a, b guarded) int { return cmp.Compare(a.grant.Resource, b.grant.Resource) })
	var all [][]guarded
	for _, s := range sorted {
		if n := len(all); n > 0 && all[n-1][0].grant.Resource == s.grant.Resource {
			all[n-1] = append(all[n-1], s)
		} else {
			all = append(all, []guarded{s})
		}
	}
	return all
}
