package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// grantsByResource splits the grants by resource, in the order of the names.
// Within a resource they are in the order in which they were granted.
func grantsByResource(h History) [][]Grant {
	sorted := slices.Clone(h.Grants)
	slices.SortFunc(sorted, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), byGranting(a, b))
	})
	var all [][]Grant
	for _, g := range sorted {
		if n := len(all); n > 0 && all[n-1][0].Resource == g.Resource {
			all[n-1] = append(all[n-1], g)
		} else {
			all = append(all, []Grant{g})
		}
	}
	return all
}

// excludes reports whether the lock promised that two grants of one resource do
// not overlap: also two of one client, unless it may enter the lock again.
func (h History) excludes(a, b Grant) bool {
	again := h.Entry == EntryReentrant || h.Entry == EntryOwnerless
	return h.Entry != EntryShared && (!again || a.Client != b.Client)
}

// eachOverlap calls visit once for each pair of grants whose intervals overlap;
// a was granted before b. The grants are in the order of granting.
func eachOverlap(grants []Grant, of func(Grant) Interval, visit func(a, b Grant)) {
	var open []int // grants whose interval may not have ended
	for i, b := range grants {
		now := of(b)
		open = slices.DeleteFunc(open, func(j int) bool { return of(grants[j]).end() <= now.Start })
		if now.Empty() {
			continue
		}
		for _, j := range open {
			visit(grants[j], b)
		}
		open = append(open, i)
	}
}

// SharedGrant is a pair of grants at once: another client was granted a resource
// while one that had been granted it before acted as its holder.
type SharedGrant struct {
	// Held is the earlier grant. The overlap begins at Granted.Granted.
	Held, Granted Grant
	// Claims says that the claims overlap: the lock broke its promise. Otherwise
	// only the beliefs do: a client has outlived its claim.
	Claims bool
}

// SharedGrants returns the overlaps of a history that [Judge] accepts, in the order of
// the resources, and then in that in which they began. A claim lies within its
// belief, so the overlaps of claims are among those of beliefs.
func SharedGrants(h History) []SharedGrant {
	var all []SharedGrant
	for _, grants := range grantsByResource(h) {
		eachOverlap(grants, func(g Grant) Interval { return g.Belief(h.Care) }, func(a, b Grant) {
			if h.excludes(a, b) {
				all = append(all, SharedGrant{Held: a, Granted: b, Claims: a.Claim().Overlaps(b.Claim())})
			}
		})
	}
	return all
}

// claimOverlaps finds the pairs of grants for which the lock broke its promise.
func claimOverlaps(h History) *tally {
	found := &tally{more: "overlaps of claims"}
	for _, grants := range grantsByResource(h) {
		eachOverlap(grants, Grant.Claim, func(a, b Grant) {
			if h.excludes(a, b) {
				found.add(func() Reason { return overlapReason(a, b, a.Claim(), "%s's claim") })
			}
		})
	}
	return found
}

// beliefOverlaps finds the pairs of grants whose clients both acted as holders.
// It returns their number, and explains those whose claims do not overlap: the
// overlaps of claims explain the others.
func beliefOverlaps(h History) (int, *tally) {
	count, found := 0, &tally{more: "overlaps of beliefs without one of claims"}
	belief := func(g Grant) Interval { return g.Belief(h.Care) }
	for _, grants := range grantsByResource(h) {
		eachOverlap(grants, belief, func(a, b Grant) {
			if !h.excludes(a, b) {
				return
			}
			count++
			if !a.Claim().Overlaps(b.Claim()) {
				found.add(func() Reason { return overlapReason(a, b, belief(a), "%s outlived its claim: its belief") })
			}
		})
	}
	return count, found
}

// overlapReason explains that b was granted within an interval of a.
func overlapReason(a, b Grant, of Interval, whose string) Reason {
	r := Reason{
		Text: fmt.Sprintf("%s was granted %s%s at step %d, while "+whose+" from step %d",
			b.Client, b.Resource, withToken(b.Token), b.Granted, a.Client, of.Start),
		At: []Pos{b.Granted, of.Start},
	}
	if of.End == 0 {
		r.Text += " had no end."
		return r
	}
	r.Text += fmt.Sprintf(" went on to step %d, when %s.", of.End, of.Ended)
	r.At = append(r.At, of.End)
	return r
}
