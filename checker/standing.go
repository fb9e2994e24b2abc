package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// standing is how a grant relates to the others of its resource.
type standing struct {
	grant Grant
	// next is the first later grant of the resource that is not an entry of the
	// same hold, rival the first later one of another client. nil when there is
	// none.
	next, rival *Grant
	// claims counts all claims on the resource, ours those of them that this one
	// may overlap: itself, and in a reentrant lock its client's others.
	claims, ours census
	belief       Interval
	record       record
}

// standingsOf returns the standing of each grant, by its id.
func standingsOf(h History) map[int]standing {
	all := make(map[int]standing, len(h.Grants))
	records := recordsOf(h)
	for _, grants := range grantsByResource(h) {
		claims, own := censusOf(grants), ownGrants(grants)
		for i, g := range slices.Backward(grants) {
			s := standing{grant: g, claims: claims, ours: censusOf([]Grant{g}),
				belief: g.Belief(h.Care), record: records[holder{g.Client, g.Resource}]}
			if h.Entry == EntryReentrant {
				s.ours = own[g.Client].claims
			}
			if i+1 < len(grants) {
				s.rival = rivalOf(g, &grants[i+1], all)
			}
			s.next = firstOf(s.rival, own[g.Client].after(g, h))
			all[g.ID] = s
		}
	}
	return all
}

// rivalOf returns the first grant after g that went to another client. next comes
// right after g, and all knows the standing of whatever comes after g.
func rivalOf(g Grant, next *Grant, all map[int]standing) *Grant {
	if next.Client != g.Client {
		return next
	}
	return all[next.ID].rival
}

// firstOf returns the earlier of two grants, of which either may be missing.
func firstOf(a, b *Grant) *Grant {
	if a == nil || b != nil && byGranting(*b, *a) < 0 {
		return b
	}
	return a
}

// own is what one client was granted of a resource, in the order of granting.
type own struct {
	grants []Grant
	claims census
}

func ownGrants(grants []Grant) map[string]own {
	byClient := make(map[string][]Grant)
	for _, g := range grants {
		byClient[g.Client] = append(byClient[g.Client], g)
	}
	all := make(map[string]own, len(byClient))
	for client, grants := range byClient {
		all[client] = own{grants, censusOf(grants)}
	}
	return all
}

// after returns the client's first grant behind g that is not an entry of g's
// hold, or nil.
func (o own) after(g Grant, h History) *Grant {
	i := sort.Search(len(o.grants), func(i int) bool {
		return byGranting(o.grants[i], g) > 0 && !h.sameHold(g, o.grants[i])
	})
	if i == len(o.grants) {
		return nil
	}
	return &o.grants[i]
}

func byGranting(a, b Grant) int {
	return cmp.Or(cmp.Compare(a.Granted, b.Granted), cmp.Compare(a.ID, b.ID))
}

// stale says that at p a later grant of the resource exists.
func (s standing) stale(p Pos) bool { return s.next != nil && s.next.Granted < p }

// rightful says that at p the client may not be turned away.
func (s standing) rightful(p Pos) bool { return s.soleClaimant(p) || s.holds(p) }

// because tells why the client was rightful at p: the rest of a sentence.
func (s standing) because(p Pos) Reason {
	g := s.grant
	if s.soleClaimant(p) {
		return Reason{
			Text: fmt.Sprintf("nobody else had a claim on %s: it had been granted to %s at step %d.", g.Resource, g.Client, g.Granted),
			At:   []Pos{g.Granted},
		}
	}
	span, _ := s.record.since(g.Granted, p)
	return Reason{
		Text: fmt.Sprintf("by the nodes' own record %s had held %s since step %d.", g.Client, g.Resource, span.From),
		At:   []Pos{span.From},
	}
}

// soleClaimant says that at p the grant's claim is the only one, and that the lock
// has given the resource to no other client in the meantime. Without the second
// half the refusal of a holder whose lock was lost to another, who has come
// and gone, would pass for the fence's mistake; it is the fence's task.
func (s standing) soleClaimant(p Pos) bool {
	overtaken := s.rival != nil && s.rival.Granted < p
	return !overtaken && s.grant.Claim().Contains(p) && s.claims.at(p) == s.ours.at(p)
}

// holds says that by the nodes' record the client has held the lock from the
// grant to p without a gap, and that it has not ended the grant itself, by a
// release, a crash, or an end that it heeded. So a client that writes under an
// earlier grant is no holder because of a later one of its own, and one that
// lost the lock and got it back, with whatever token, is not the holder that it
// was. But the end of the validity and a notice of loss do not count while they
// are not heeded: they are what the client was told, on the safe side, and here
// the nodes know better. An entry into a reentrant lock leaves no gap: the outer
// grant stays rightful (F34).
func (s standing) holds(p Pos) bool {
	_, held := s.record.since(s.grant.Granted, p)
	return held && s.belief.Contains(p)
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
