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

// checkTokens compares the token of each grant with those of all grants of the
// resource that had returned before its invocation. Grants that were in flight
// together may have any order. An entry into a reentrant lock has the token of
// the grant that it enters: with a token for each entry the fence would refuse
// the outer ones (F34).
func checkTokens(h History) tokenFinding {
	f := tokenFinding{
		regressions: &tally{more: "tokens that went back"},
		duplicates:  &tally{more: "tokens given out twice"},
	}
	for _, grants := range grantsByResource(h) {
		minted := slices.DeleteFunc(grants, func(g Grant) bool { return g.Token == 0 })
		checkTokenOrder(h, minted, &f)
	}
	return f
}

// checkTokenOrder expects the grants of one resource in the order of granting.
func checkTokenOrder(h History, grants []Grant, f *tokenFinding) {
	asked := slices.SortedFunc(slices.Values(grants), func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Invoked, b.Invoked), cmp.Compare(a.ID, b.ID))
	})
	var highest Grant
	given := make(map[uint64]tokenUse)
	returned := 0
	for _, g := range asked {
		for ; returned < len(grants) && grants[returned].Granted < g.Invoked; returned++ {
			done := grants[returned]
			given[done.Token] = given[done.Token].add(done)
			if done.Token > highest.Token {
				highest = done
			}
		}
		if g.Token < highest.Token {
			f.regressions.add(func() Reason { return tokenReason(g, highest, "below") })
		}
		if twin, twice := given[g.Token].conflict(h, g); twice {
			f.duplicates.add(func() Reason { return tokenReason(g, twin, "the same as") })
		}
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
