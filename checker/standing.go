package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// standing has the relations of a grant to the others of its resource.
type standing struct {
	grant Grant
	// next is the first later grant of the resource that is not an entry of the
	// same hold, rival the first later one of another client; nil if there is
	// none.
	next, rival *Grant
	// claims counts all claims on the resource, ours those that this one may
	// overlap: itself, and in a reentrant lock the others of its client.
	claims, ours claimCounts
	belief       Interval
	holdings     holdings
	shared       bool // all may be in: see [EntryShared]
}

// standingsOf returns the standing of each grant, by its id.
func standingsOf(h History) map[int]standing {
	all := make(map[int]standing, len(h.Grants))
	records := holdingsOf(h)
	for _, grants := range grantsByResource(h) {
		claims, own := claimCountsOf(grants), ownGrants(grants)
		for i, g := range slices.Backward(grants) {
			s := standing{grant: g, claims: claims, ours: claimCountsOf([]Grant{g}),
				belief: g.Belief(h.Care), holdings: records[holder{g.Client, g.Resource}], shared: h.Entry == EntryShared}
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

// rivalOf returns the first grant of another client after g. next comes right
// after g, and all has the standings of all grants after g.
func rivalOf(g Grant, next *Grant, all map[int]standing) *Grant {
	if next.Client != g.Client {
		return next
	}
	return all[next.ID].rival
}

// firstOf returns the earlier of two grants, either of which may be nil.
func firstOf(a, b *Grant) *Grant {
	if a == nil || b != nil && byGranting(*b, *a) < 0 {
		return b
	}
	return a
}

// clientGrants are the grants of one client and resource, in the order of
// granting.
type clientGrants struct {
	grants []Grant
	claims claimCounts
}

func ownGrants(grants []Grant) map[string]clientGrants {
	byClient := make(map[string][]Grant)
	for _, g := range grants {
		byClient[g.Client] = append(byClient[g.Client], g)
	}
	all := make(map[string]clientGrants, len(byClient))
	for client, grants := range byClient {
		all[client] = clientGrants{grants, claimCountsOf(grants)}
	}
	return all
}

// after returns the client's first grant after g that is not an entry of g's
// hold, or nil.
func (o clientGrants) after(g Grant, h History) *Grant {
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

// stale reports whether at p a later grant of the resource exists.
func (s standing) stale(p Pos) bool { return s.next != nil && s.next.Granted < p }

// rightful reports whether at p the client must not be refused.
func (s standing) rightful(p Pos) bool { return !s.shared && (s.soleClaimant(p) || s.holds(p)) }

// because says why the client was rightful at p: the rest of a sentence.
func (s standing) because(p Pos) Reason {
	g := s.grant
	if s.soleClaimant(p) {
		return Reason{
			Text: fmt.Sprintf("nobody else had a claim on %s: it had been granted to %s at step %d.", g.Resource, g.Client,
				g.Granted),
			At: []Pos{g.Granted},
		}
	}
	span, _ := s.holdings.since(g.Granted, p)
	return Reason{
		Text: fmt.Sprintf("by the nodes' own record %s had held %s since step %d.", g.Client, g.Resource, span.From),
		At:   []Pos{span.From},
	}
}

// soleClaimant reports whether at p the grant's claim is the only one, and the
// lock has granted the resource to no other client since. Without the second
// condition, the refusal of a holder that has lost its lock to a client which
// has released it again would count as the fence's mistake; it is the fence's
// task.
func (s standing) soleClaimant(p Pos) bool {
	overtaken := s.rival != nil && s.rival.Granted < p
	return !overtaken && s.grant.Claim().Contains(p) && s.claims.at(p) == s.ours.at(p)
}

// holds reports whether by the nodes' record the client has held the lock from
// the grant to p without a gap, and has not ended the grant itself, by a
// release, a crash, or an end that it has observed. So a client that writes
// under an earlier grant is not a holder because of a later one of its own, and
// one that lost the lock and got it back, with any token, is not the same
// holder as before. But the end of the validity and a notice of loss do not
// count before the client observes them: they are conservative, and the nodes'
// record is exact. An entry into a reentrant lock leaves no gap: the outer
// grant stays rightful (F34).
func (s standing) holds(p Pos) bool {
	_, held := s.holdings.since(s.grant.Granted, p)
	return held && s.belief.Contains(p)
}

// claimCounts counts the claims on one resource at any position.
type claimCounts struct {
	starts, ends []Pos // sorted
}

func claimCountsOf(grants []Grant) claimCounts {
	var c claimCounts
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

func (c claimCounts) at(p Pos) int {
	started, _ := slices.BinarySearch(c.starts, p+1)
	ended, _ := slices.BinarySearch(c.ends, p+1)
	return started - ended
}
