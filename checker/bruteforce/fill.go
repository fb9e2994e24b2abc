package bruteforce

import (
	"slices"

	"locksim/checker"
)

// work is a computation of a value: "A computation is a grant under which a write of the value was sent, whatever its
// outcome".
type work struct {
	grant checker.Grant
	write checker.Op
}

func works(h checker.History, c checker.Cell) (all []work) {
	for _, o := range h.Ops {
		if o.Kind == checker.Write && cell(o) == c && o.Outcome != checker.OutcomeNotSent {
			all = append(all, work{grantOf(h, o), o})
		}
	}
	return all
}

// "Recomputed counts, in a history with History.Fill, the computations of a value beyond the first." "WorkTwice counts
// those of them that the lock, with a second look after the grant, should have prevented."
func repeatedWork(h checker.History) (again, twice int) {
	if !h.Fill {
		return 0, 0
	}
	for c := range h.Final {
		all := works(h, c)
		again += max(0, len(all)-1)
		for _, w := range all {
			if slices.ContainsFunc(all, func(other work) bool { return prevented(h, other, w) || wasThere(h, other.write, w) }) {
				twice++
			}
		}
	}
	return again, twice
}

// "Another computation has an earlier grant, its claim overlaps that of this one, the lock promised that they do not,
// and its write neither has an unknown outcome nor had returned without success when this one was granted."
func prevented(h checker.History, other, w work) bool {
	earlier := other.grant.Granted < w.grant.Granted || other.grant.Granted == w.grant.Granted &&
		other.grant.ID < w.grant.ID
	if !earlier || bothIn(h, other.grant, w.grant) {
		return false
	}
	overlap := slices.ContainsFunc(named(h), func(p checker.Pos) bool {
		return claims(other.grant, p) &&
			claims(w.grant, p)
	})
	over := other.write.Outcome != checker.OutcomeOK && other.write.Returned != 0 && other.write.Returned < w.grant.Granted
	return overlap && other.write.Outcome != checker.OutcomeUnknown && !over
}

// "Or a write of the value had returned with success when this one was granted, and its read was answered."
func wasThere(h checker.History, write checker.Op, w work) bool {
	return write.Outcome == checker.OutcomeOK && write.Returned < w.grant.Granted &&
		slices.ContainsFunc(h.Ops, func(r checker.Op) bool { return readFor(h, r, w.write) })
}

// filled is the state of the data of a history with History.Fill: "each cell has a value in the end if a write of it
// was acknowledged or a read found one; no read found none which was called after such a write or read had returned;
// and what a read, or the end, found is the id of a write, acknowledged or of unknown outcome, that had been called by
// then."
//
// A cell is empty up to some instant, and has its value from then on. The instants that are tried lie between the
// positions and on them: position p is the instant 2p.
func filled(h checker.History) (state checker.Data, lost, torn int) {
	state = checker.DataRight
	for c, id := range h.Final {
		var ops []checker.Op
		last := checker.Pos(0)
		for _, o := range h.Ops {
			if cell(o) == c {
				ops, last = append(ops, o), max(last, o.Invoked, o.Returned)
			}
		}
		stored := func(id string, by checker.Pos) bool {
			return slices.ContainsFunc(ops, func(w checker.Op) bool {
				return w.Kind == checker.Write && counts(w) &&
					w.ID == id && w.Invoked <= by
			})
		}
		fits := func(from checker.Pos) bool {
			for _, o := range ops {
				switch {
				case o.Outcome != checker.OutcomeOK:
				case o.Kind == checker.Read && o.Saw == "": // at an instant before
					if 2*o.Invoked >= from {
						return false
					}
				case 2*o.Returned+1 < from || o.Kind == checker.Read && !stored(o.Saw, o.Returned): // at an instant after
					return false
				}
			}
			return id == "" || stored(id, last)
		}
		possible := false
		for from := checker.Pos(0); from <= 2*last+2; from++ {
			possible = possible || fits(from)
		}
		for _, o := range ops {
			if id == "" && o.Outcome == checker.OutcomeOK && (o.Kind == checker.Write || o.Saw != "") {
				possible = false
				if o.Kind == checker.Write {
					lost++
				}
			}
		}
		if !possible {
			state = checker.DataCorrupted
		}
	}
	return state, lost, 0
}
