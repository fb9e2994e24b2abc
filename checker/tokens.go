package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// tokenFinding has the errors in the order of the tokens.
type tokenFinding struct {
	regressions, duplicates *tally
}

// checkTokens compares the token of each grant with those of the grants of the
// resource before it. A token is minted between the call of Acquire and its return,
// and while the lock is free. So the grants that had returned before the call have
// lower ones, and those whose claim had ended before this one began. Other grants
// that were pending together may have any order, but no token in common. An entry
// into a reentrant lock has the token of the grant that it enters: with a token for
// each entry the fence would refuse the outer ones (F34). A client whose release has
// failed may be granted what it still has.
func checkTokens(h History, slack *leastSlack) tokenFinding {
	f := tokenFinding{
		regressions: &tally{more: "tokens that went back"},
		duplicates:  &tally{more: "tokens given out twice"},
	}
	for _, grants := range grantsByResource(h) {
		minted := slices.DeleteFunc(grants, func(g Grant) bool { return g.Token == 0 })
		checkTokenOrder(h, minted, f.regressions, slack)
		checkTokenUse(h, minted, f.duplicates, slack)
	}
	return f
}

// checkTokenOrder expects the grants of one resource in the order of granting.
func checkTokenOrder(h History, grants []Grant, found *tally, slack *leastSlack) {
	var returned, ended topToken
	returned.grants = grants
	ended.grants = slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g.Claim().Empty() })
	slices.SortFunc(ended.grants, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Claim().end(), b.Claim().end()), cmp.Compare(a.ID, b.ID))
	})
	before := make(map[int]Grant) // the one with the highest token that had returned when a grant was asked for
	for _, g := range slices.SortedFunc(slices.Values(grants), byCalling) {
		before[g.ID] = returned.before(g.Invoked, func(e Grant) Pos { return e.Granted })
	}
	for _, g := range grants {
		top := before[g.ID]
		if claimed := ended.before(g.Granted, func(e Grant) Pos { return e.Claim().end() }); claimed.Token > top.Token &&
			!g.Claim().Empty() {
			top = claimed
		}
		if top.ID == 0 || g.Token == top.Token { // see checkTokenUse
			continue
		}
		slack.ofToken(h, g, top)
		if g.Token < top.Token {
			found.add(func() Reason { return tokenReason(g, top, "below") })
		}
	}
}

func byCalling(a, b Grant) int {
	return cmp.Or(cmp.Compare(a.Invoked, b.Invoked), cmp.Compare(a.ID, b.ID))
}

// topToken is the grant with the highest token so far of those that are gone through.
type topToken struct {
	grants []Grant // that are left, in the order of what is compared
	grant  Grant
}

// before goes on to a position, which is not before the last one.
func (s *topToken) before(p Pos, at func(Grant) Pos) Grant {
	for ; len(s.grants) > 0 && at(s.grants[0]) < p; s.grants = s.grants[1:] {
		if s.grants[0].Token > s.grant.Token {
			s.grant = s.grants[0]
		}
	}
	return s.grant
}

// checkTokenUse expects the grants of one resource in the order of granting.
func checkTokenUse(h History, grants []Grant, found *tally, slack *leastSlack) {
	given := make(map[uint64]tokenUse)
	for _, g := range grants {
		if twin, twice := given[g.Token].conflict(h, g); twice {
			slack.ofToken(h, g, twin)
			found.add(func() Reason { return tokenReason(g, twin, "the same as") })
		}
		given[g.Token] = given[g.Token].add(g)
	}
}

// tokenUse has the grants with one token: the latest, the latest of a client
// other than that one's, and those of each client.
type tokenUse struct {
	latest, other Grant
	own           map[string][]Grant
}

func (i tokenUse) add(g Grant) tokenUse {
	if i.own == nil {
		i.own = make(map[string][]Grant)
	}
	if i.latest.Client != g.Client {
		i.other = i.latest
	}
	i.latest = g
	i.own[g.Client] = append(i.own[g.Client], g)
	return i
}

// conflict returns a grant with which g must not share its token.
func (i tokenUse) conflict(h History, g Grant) (Grant, bool) {
	twin := i.latest
	if twin.Client == g.Client && h.goesOn(g, i.own[g.Client]) {
		twin = i.other
	}
	return twin, twin.ID > 0
}

// goesOn reports whether a client that asked for g still had what it was granted
// before with the same token: in a reentrant lock under a grant that it had not ended,
// in any lock if its last release returned another error than that it had it no more.
func (h History) goesOn(g Grant, before []Grant) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	kept := last.ReleaseReturned > 0 && !last.ReleaseSucceeded && !last.ReleaseNotHeld
	return kept && (last.Crashed == 0 || last.Crashed > g.Invoked) ||
		h.Entry == EntryReentrant &&
			slices.ContainsFunc(before, func(e Grant) bool { return e.Belief(CareNever).end() > g.Invoked })
}

func tokenReason(g, earlier Grant, relation string) Reason {
	return Reason{
		Text: fmt.Sprintf("%s was granted %s with token %d at step %d, %s token %d that %s had been granted at step %d.",
			g.Client, g.Resource, g.Token, g.Granted, relation, earlier.Token, earlier.Client, earlier.Granted),
		At: []Pos{g.Granted, earlier.Granted},
	}
}
