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
// decided on at position 0, before any grant, and so counts nowhere.
func checkFencing(h History) *fencingFinding {
	f := &fencingFinding{
		accepted: &tally{more: "stale writes that were accepted"},
		rejected: &tally{more: "stale operations that were refused"},
		falsely:  &tally{more: "refusals of a rightful holder"},
	}
	standings := standingsOf(h)
	for _, o := range opsByStep(h) {
		f.examine(o, standings[o.Grant])
	}
	return f
}

// examine looks at one operation at the store's instant.
func (f *fencingFinding) examine(o Op, s standing) {
	if !o.Accepted && s.rightful(o.Applied) {
		f.falsely.add(func() Reason { return falseRejectReason(o) })
	}
	switch {
	case !s.stale(o.Applied):
	case !o.Accepted:
		f.rejected.add(func() Reason { return staleReason(o, *s.next, "was refused") })
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

// standing is how a grant relates to those that came after it.
type standing struct {
	grant Grant
	// next is the first later grant of the resource, rival the first of those
	// that went to another client. nil when there is none.
	next, rival *Grant
	claims      census
}

// standingsOf returns the standing of each grant, by its id.
func standingsOf(h History) map[int]standing {
	all := make(map[int]standing, len(h.Grants))
	for _, grants := range grantsByResource(h) {
		claims := censusOf(grants)
		for i := len(grants) - 1; i >= 0; i-- {
			s := standing{grant: grants[i], claims: claims}
			if i+1 < len(grants) {
				s.next, s.rival = &grants[i+1], &grants[i+1]
				if s.next.Client == s.grant.Client {
					s.rival = all[s.next.ID].rival
				}
			}
			all[s.grant.ID] = s
		}
	}
	return all
}

// stale says that at p a later grant of the resource exists.
func (s standing) stale(p Pos) bool { return s.next != nil && s.next.Granted < p }

// rightful says that at p the grant's claim is the only one, and that the lock
// has given the resource to no other client in the meantime. Without the second
// half the refusal of a holder whose lock was lost to another, who has come
// and gone, would pass for the fence's mistake; it is the fence's task.
func (s standing) rightful(p Pos) bool {
	overtaken := s.rival != nil && s.rival.Granted < p
	return !overtaken && s.grant.Claim().Contains(p) && s.claims.at(p) == 1
}

// census counts the claims on one resource at any position.
type census struct {
	starts, ends []Pos // sorted
}

func censusOf(grants []Grant) census {
	var c census
	for _, g := range grants {
		if claim := g.Claim(); !claim.Empty() {
			c.starts = append(c.starts, claim.Start)
			c.ends = append(c.ends, claim.end())
		}
	}
	slices.Sort(c.starts)
	slices.Sort(c.ends)
	return c
}

// at returns how many claims contain p.
func (c census) at(p Pos) int {
	started, _ := slices.BinarySearch(c.starts, p+1)
	ended, _ := slices.BinarySearch(c.ends, p+1)
	return started - ended
}

func staleReason(o Op, later Grant, fate string) Reason {
	return Reason{
		Text: fmt.Sprintf("%s's stale %s %s%s %s at step %d: %s had been granted %s%s at step %d.",
			o.Client, o.Kind, o.ID, withToken(o.Token), fate, o.Applied,
			later.Client, o.Resource, withToken(later.Token), later.Granted),
		At: []Pos{o.Applied, later.Granted},
	}
}

func falseRejectReason(o Op) Reason {
	return Reason{
		Text: fmt.Sprintf("%s's %s %s%s was refused at step %d, although nobody else had a claim on %s.",
			o.Client, o.Kind, o.ID, withToken(o.Token), o.Applied, o.Resource),
		At: []Pos{o.Applied},
	}
}
