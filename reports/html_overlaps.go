package reports

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
)

// shade is a stretch of time in which more than one client had a claim, or
// believed so.
type shade struct {
	stretch
	Kind string // claim, belief
	Says string
	Y, H int
}

// shades are the overlaps, joined where they touch. Where claims overlap,
// beliefs do as well, and only the worse is shaded.
func (d *drawing) shades() []shade {
	h := d.run.History
	claims := d.overlaps(func(g checker.Grant) checker.Interval { return g.Claim() })
	beliefs := d.overlaps(func(g checker.Grant) checker.Interval { return g.Belief(h.Care) })
	var out []shade
	for _, s := range beliefs {
		out = append(out, d.shade(s, "belief", "more than one client believes that it holds the lock"))
	}
	for _, s := range claims {
		out = append(out, d.shade(s, "claim", "more than one client has a claim: the lock breaks its promise"))
	}
	return out
}

func (d *drawing) shade(s stretch, kind, what string) shade {
	first, last := d.lanes[d.clients[0]], d.lanes[d.clients[len(d.clients)-1]]
	return shade{stretch: d.scale.place(s), Kind: kind, Y: first.Y, H: last.Bottom() - first.Y,
		Says: fmt.Sprintf("%s, %s", what, during(s))}
}

// overlaps are the stretches in which two intervals of grants stand at once.
func (d *drawing) overlaps(of func(checker.Grant) checker.Interval) []stretch {
	h := d.run.History
	var out []stretch
	var standing []checker.Grant
	for _, g := range byGranted(h) {
		i := of(g)
		standing = slices.DeleteFunc(standing, func(before checker.Grant) bool { return !of(before).Contains(g.Granted) })
		for _, before := range standing {
			if x := of(before); rivals(h, before, g) && x.Overlaps(i) {
				out = append(out, d.common(x, i))
			}
		}
		standing = append(standing, g)
	}
	return joined(out)
}

// byGranted are the grants in the order in which they were made.
func byGranted(h checker.History) []checker.Grant {
	return slices.SortedFunc(slices.Values(h.Grants), func(a, b checker.Grant) int { return cmp.Compare(a.Granted, b.Granted) })
}

// rivals says that two grants should exclude each other.
func rivals(h checker.History, a, b checker.Grant) bool {
	return a.Resource == b.Resource && (a.Client != b.Client || h.Entry != checker.EntryReentrant)
}

// common is the time that two intervals share.
func (d *drawing) common(x, y checker.Interval) stretch {
	s := stretch{N: int(max(x.Start, y.Start)), M: int(earlier(x.End, y.End))}
	s.T0, s.T1 = d.at(checker.Pos(s.N)), d.at(checker.Pos(s.M))
	return s
}

// earlier is the first of two ends; 0 is the end of the run.
func earlier(a, b checker.Pos) checker.Pos {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// joined puts together spans that touch.
func joined(spans []stretch) []stretch {
	slices.SortStableFunc(spans, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.T0, b.T0), cmp.Compare(a.T1, b.T1)) })
	var out []stretch
	for _, s := range spans {
		if n := len(out); n > 0 && s.T0 <= out[n-1].T1 {
			if s.T1 > out[n-1].T1 {
				out[n-1].T1, out[n-1].M = s.T1, s.M
			}
			continue
		}
		out = append(out, s)
	}
	return out
}
