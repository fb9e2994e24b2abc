package bruteforce

import (
	"slices"

	"locksim/checker"
)

// searched is the number of units up to which every order is tried.
const searched = 9

// data is the state of the data with the lost updates and the torn sections.
//
// "DataRight means that each acknowledged write is part of one history that leads to
// the final value and respects real time, and that each section of several writes is
// in it as a whole, or not at all. DataCorrupted means that there is no such
// history. DataUndecided means that the history has more than MaxOperations
// operations."
func data(h checker.History) (state checker.Data, lost, torn int) {
	if len(h.Ops) > checker.MaxOperations {
		return checker.DataUndecided, 0, 0
	}
	if h.Fill {
		return filled(h)
	}
	lost, torn = lostUpdates(h), tornSections(h)
	if lost > 0 || torn > 0 || !ordered(h) {
		return checker.DataCorrupted, lost, torn
	}
	return checker.DataRight, lost, torn
}

// "Every write stores its own id and the id that its section had read, so the final
// value leads back, write by write, to the initial one." path are the ids on that
// way, the last one first, without the initial value. whole is false if it does not
// lead to the initial value: to an id that was never written, or in a circle. "A refused
// write, and one that was never sent or failed, is no part of it."
func path(h checker.History, c checker.Cell) (ids []string, whole bool) {
	for id := h.Final[c]; id != ""; {
		w := slices.IndexFunc(h.Ops, func(o checker.Op) bool {
			return o.Kind == checker.Write && o.ID == id && cell(o) == c && counts(o)
		})
		if w < 0 || slices.Contains(ids, id) {
			return ids, false
		}
		ids = append(ids, id)
		id = h.Ops[w].Saw
	}
	return ids, true
}

func cell(o checker.Op) checker.Cell {
	return checker.Cell{Resource: o.Resource, Register: o.Register}
}

func inData(h checker.History, o checker.Op) bool {
	ids, _ := path(h, cell(o))
	return slices.Contains(ids, o.ID)
}

// "LostUpdates counts the acknowledged writes that the final value knows nothing
// of": "acknowledged writes that are not on that path".
func lostUpdates(h checker.History) int {
	n := 0
	for _, o := range h.Ops {
		if o.Kind == checker.Write && o.Outcome == checker.OutcomeOK && !inData(h, o) {
			n++
		}
	}
	return n
}

// "TornSections counts sections of which a part is in the data and a part is not."
// A section is what is done under one grant, "SectionWrites is how many writes a
// whole section makes. Above 1, a section that took effect only in part is torn."
// "Nor does a section count that wrote a register whose final value does not lead back
// to the initial one: it is not known what took effect."
func tornSections(h checker.History) int {
	if h.SectionWrites <= 1 {
		return 0
	}
	n := 0
	for _, g := range h.Grants {
		in, out, known := 0, 0, true
		for _, o := range h.Ops {
			if o.Grant != g.ID || o.Kind != checker.Write {
				continue
			}
			_, whole := path(h, cell(o))
			known = known && whole
			if inData(h, o) {
				in++
			} else {
				out++
			}
		}
		if known && in > 0 && (out > 0 || in < h.SectionWrites) {
			n++
		}
	}
	return n
}

// unit is what takes effect at one instant between its call and its return: one
// operation or, if sections have several writes, one section.
type unit struct {
	ops                []checker.Op
	invoked, lastReply checker.Pos // lastReply is 0 if the effect may come at any time later
	must               bool        // it is acknowledged: it is part of the history
}

// before reports whether real time orders two units.
func (u unit) before(v unit) bool { return u.lastReply != 0 && u.lastReply < v.invoked }

// newUnit makes a unit of operations that took effect or may have.
func newUnit(ops []checker.Op) unit {
	u := unit{ops: ops, invoked: ops[0].Invoked}
	open := false
	for _, o := range ops {
		u.invoked = min(u.invoked, o.Invoked)
		u.lastReply = max(u.lastReply, o.Returned)
		open = open || o.Outcome == checker.OutcomeUnknown
		u.must = u.must || o.Outcome == checker.OutcomeOK
	}
	if open {
		u.lastReply = 0
	}
	return u
}

// counts reports whether an operation may be part of the history. "Unknown means that
// it was sent and not answered: it may have taken effect, may do so later, or never
// does." An unknown read has no effect, and no client saw its result.
func counts(o checker.Op) bool {
	return o.Outcome == checker.OutcomeOK || o.Outcome == checker.OutcomeUnknown && o.Kind == checker.Write
}

// ordered reports whether there is one history that leads to the final values.
func ordered(h checker.History) bool {
	for c := range h.Final {
		if !cellOrdered(h, c) {
			return false
		}
	}
	if h.SectionWrites > 1 {
		for _, resource := range resources(h) {
			if !sectionsOrdered(h, resource) {
				return false
			}
		}
	}
	return true
}

func resources(h checker.History) []checker.Resource {
	var names []checker.Resource
	for c := range h.Final {
		names = append(names, c.Resource)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// cellOrdered reports whether the operations on one register have an order. "An
// acknowledged write takes effect at one instant between the call of its section's
// read of the register and its own return; any other answered read at one between its
// call and its return."
func cellOrdered(h checker.History, c checker.Cell) bool {
	var units []unit
	for _, o := range h.Ops {
		if cell(o) != c || !counts(o) {
			continue
		}
		switch {
		case o.Kind == checker.Write && o.Outcome == checker.OutcomeOK:
			ops := []checker.Op{o}
			for _, r := range h.Ops {
				if readFor(h, r, o) {
					ops = append(ops, r)
				}
			}
			units = append(units, newUnit(ops))
		case !slices.ContainsFunc(h.Ops, func(w checker.Op) bool {
			return w.Outcome == checker.OutcomeOK &&
				readFor(h, o, w)
		}):
			units = append(units, newUnit([]checker.Op{o}))
		}
	}
	final := map[checker.Cell]string{c: h.Final[c]}
	return haveOrder(h, units, final)
}

// readFor reports whether r is the section's read of the register that w writes: the
// last one that was answered before, under the same grant.
func readFor(h checker.History, r, w checker.Op) bool {
	belongs := func(r checker.Op) bool {
		return r.Kind == checker.Read && r.Outcome == checker.OutcomeOK && w.Kind == checker.Write && r.Grant == w.Grant &&
			cell(r) == cell(w) && r.Returned <= w.Invoked
	}
	return belongs(r) && !slices.ContainsFunc(h.Ops, func(o checker.Op) bool {
		return o.Grant == w.Grant && cell(o) == cell(w) && r.Invoked < o.Invoked && o.Invoked < w.Invoked &&
			(o.Kind == checker.Write || belongs(o))
	})
}

// sectionsOrdered reports whether the whole sections of a resource have an order: "A
// whole section of several writes also takes effect in all registers at one instant
// between the call of its first operation and the return of its last one."
func sectionsOrdered(h checker.History, resource checker.Resource) bool {
	final := map[checker.Cell]string{}
	for c, id := range h.Final {
		if c.Resource == resource {
			final[c] = id
		}
	}
	var units []unit
	for _, g := range h.Grants {
		var ops []checker.Op
		writes := 0
		for _, o := range h.Ops {
			if o.Grant == g.ID && o.Resource == resource && counts(o) {
				ops = append(ops, o)
				if o.Kind == checker.Write {
					writes++
				}
			}
		}
		if writes == 0 {
			continue
		}
		slices.SortFunc(ops, func(a, b checker.Op) int { return int(a.Invoked - b.Invoked) })
		u := newUnit(ops)
		u.must = slices.ContainsFunc(ops, func(o checker.Op) bool {
			return o.Kind == checker.Write &&
				o.Outcome == checker.OutcomeOK
		})
		if writes < h.SectionWrites {
			if u.must {
				return false // a part of it is in the data, and a part was never written
			}
			continue // "or not at all"
		}
		units = append(units, u)
	}
	return haveOrder(h, units, final)
}

// haveOrder reports whether units have an order, by a search if they are few.
func haveOrder(h checker.History, units []unit, final map[checker.Cell]string) bool {
	followed := followPath(h, units, final)
	if len(units) <= searched && searchOrder(units, final) != followed {
		panic("bruteforce: the search of all orders contradicts the path of the final values")
	}
	return followed
}

// searchOrder tries all orders of the units: those that real time allows, from the
// initial values to the final ones, with or without the units that may have had no
// effect.
func searchOrder(units []unit, final map[checker.Cell]string) bool {
	used := make([]bool, len(units))
	var step func(state map[checker.Cell]string) bool
	step = func(state map[checker.Cell]string) bool {
		done := true
		for i, u := range units {
			done = done && (used[i] || !u.must)
		}
		for c, id := range final {
			done = done && state[c] == id
		}
		if done {
			return true
		}
	next:
		for i, u := range units {
			if used[i] {
				continue
			}
			for j, v := range units {
				if !used[j] && v.before(u) {
					continue next
				}
			}
			after, ok := apply(state, u)
			if !ok {
				continue
			}
			used[i] = true
			if step(after) {
				return true
			}
			used[i] = false
		}
		return false
	}
	return step(map[checker.Cell]string{})
}

// apply is the state after a unit; ok is false if it is based on another state: its
// reads found, and its writes are based on, the present values.
func apply(state map[checker.Cell]string, u unit) (after map[checker.Cell]string, ok bool) {
	after = map[checker.Cell]string{}
	for c, id := range state {
		after[c] = id
	}
	for _, o := range u.ops {
		if state[cell(o)] != o.Saw {
			return nil, false
		}
		if o.Kind == checker.Write {
			after[cell(o)] = o.ID
		}
	}
	return after, true
}

// followPath decides the same for many units: the final value of a register
// determines which writes are in the history, and in which order, so that only
// pairs of units have to be compared.
func followPath(h checker.History, units []unit, final map[checker.Cell]string) bool {
	rank := map[checker.Cell]map[string]int{} // the place of each value on the path, 0 for the initial one
	for c := range final {
		ids, whole := path(h, c)
		if !whole {
			return false
		}
		rank[c] = map[string]int{"": 0}
		for i, id := range ids {
			rank[c][id] = len(ids) - i
		}
	}
	var in []unit
	for _, u := range units {
		// It is in the history if its writes are; then each part fits its place.
		fits, effect := true, u.must
		for _, o := range u.ops {
			at, ok := rank[cell(o)][o.Saw]
			if o.Kind == checker.Write {
				id, written := rank[cell(o)][o.ID]
				ok, effect = ok && written && id == at+1, effect || written
			}
			fits = fits && ok
		}
		if effect && !fits {
			return false
		}
		if effect {
			in = append(in, u)
		}
	}
	// place is twice the rank of a write, and one more for a read of its value.
	place := func(o checker.Op) int {
		if o.Kind == checker.Write {
			return 2 * rank[cell(o)][o.ID]
		}
		return 2*rank[cell(o)][o.Saw] + 1
	}
	// before is what the values or real time say about two units.
	follows := func(u, v unit) bool {
		if u.before(v) {
			return true
		}
		for _, a := range u.ops {
			for _, b := range v.ops {
				if cell(a) == cell(b) && place(a) < place(b) {
					return true
				}
			}
		}
		return false
	}
	// Take away, again and again, a unit that none of the others precedes.
	for len(in) > 0 {
		first := slices.IndexFunc(in, func(u unit) bool {
			return !slices.ContainsFunc(in, func(v unit) bool { return v.ops[0].ID != u.ops[0].ID && follows(v, u) })
		})
		if first < 0 {
			return false
		}
		in = slices.Delete(in, first, first+1)
	}
	return true
}
