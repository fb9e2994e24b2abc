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
// each entry the fence would refuse the outer ones (F34).
func checkTokens(h History) tokenFinding {
	f := tokenFinding{
		regressions: &tally{more: "tokens that went back"},
		duplicates:  &tally{more: "tokens given out twice"},
	}
	for _, grants := range grantsByResource(h) {
		minted := slices.DeleteFunc(grants, func(g Grant) bool { return g.Token == 0 })
		checkTokenOrder(minted, f.regressions)
		checkTokenUse(h, minted, f.duplicates)
	}
	return f
}

// checkTokenOrder expects the grants of one resource in the order of granting.
func checkTokenOrder(grants []Grant, found *tally) {
	var returned, ended topToken
	returned.grants = grants
	ended.grants = slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g.Claim().Empty() })
	slices.SortFunc(ended.grants, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Claim().end(), b.Claim().end()), cmp.Compare(a.ID, b.ID))
	})
	below := make(map[int]Grant) // a grant with a higher token, by the grant that came after it
	for _, g := range slices.SortedFunc(slices.Values(grants), byCalling) {
		if top := returned.before(g.Invoked, func(e Grant) Pos { return e.Granted }); g.Token < top.Token {
			below[g.ID] = top
		}
	}
	for _, g := range grants {
		top := ended.before(g.Granted, func(e Grant) Pos { return e.Claim().end() })
		if earlier, known := below[g.ID]; known {
			top = earlier
		} else if g.Token >= top.Token || g.Claim().Empty() {
			continue
		}
		found.add(func() Reason { return tokenReason(g, top, "below") })
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
func checkTokenUse(h History, grants []Grant, found *tally) {
	given := make(map[uint64]tokenUse)
	for _, g := range grants {
		if twin, twice := given[g.Token].conflict(h, g); twice {
			found.add(func() Reason { return tokenReason(g, twin, "the same as") })
		}
		given[g.Token] = given[g.Token].add(g)
	}
}

// tokenUse has the grants with one token: the latest, the latest of a client
// other than that one's, and for each client the end of its last belief in such
// a grant.
type tokenUse struct {
	latest, other Grant
	reach         map[string]Pos
}

func (i tokenUse) add(g Grant) tokenUse {
	if i.reach == nil {
		i.reach = make(map[string]Pos)
	}
	if i.latest.Client != g.Client {
		i.other = i.latest
	}
	i.latest = g
	i.reach[g.Client] = max(i.reach[g.Client], g.Belief(CareNever).end())
	return i
}

// conflict returns a grant with which g must not share its token. In a
// reentrant lock it may share it with those of its client, while one of them
// has not ended.
func (i tokenUse) conflict(h History, g Grant) (Grant, bool) {
	twin := i.latest
	if h.Entry == EntryReentrant && twin.Client == g.Client && i.reach[g.Client] > g.Invoked {
		twin = i.other
	}
	return twin, twin.ID > 0
}

func tokenReason(g, earlier Grant, relation string) Reason {
	return Reason{
		Text: fmt.Sprintf("%s was granted %s with token %d at step %d, %s token %d that %s had been granted at step %d.",
			g.Client, g.Resource, g.Token, g.Granted, relation, earlier.Token, earlier.Client, earlier.Granted),
		At: []Pos{g.Granted, earlier.Granted},
	}
}
