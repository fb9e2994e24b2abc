package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// tokenFinding is what is wrong with the order of the tokens.
type tokenFinding struct {
	regressions, duplicates *tally
}

// checkTokens compares the token of each grant with those of all grants of the
// resource that had returned before it was asked for. Grants that were in
// flight together may come in any order.
func checkTokens(h History) tokenFinding {
	f := tokenFinding{
		regressions: &tally{more: "tokens that went back"},
		duplicates:  &tally{more: "tokens given out twice"},
	}
	for _, grants := range grantsByResource(h) {
		minted := slices.DeleteFunc(grants, func(g Grant) bool { return g.Token == 0 })
		checkTokenOrder(minted, &f)
	}
	return f
}

// checkTokenOrder takes the grants of one resource in the order of granting.
func checkTokenOrder(grants []Grant, f *tokenFinding) {
	asked := slices.SortedFunc(slices.Values(grants), func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Invoked, b.Invoked), cmp.Compare(a.ID, b.ID))
	})
	var highest Grant
	holder := make(map[uint64]Grant)
	returned := 0
	for _, g := range asked {
		for ; returned < len(grants) && grants[returned].Granted < g.Invoked; returned++ {
			done := grants[returned]
			holder[done.Token] = done
			if done.Token > highest.Token {
				highest = done
			}
		}
		if g.Token < highest.Token {
			f.regressions.add(func() Reason { return tokenReason(g, highest, "below") })
		}
		if twin, twice := holder[g.Token]; twice {
			f.duplicates.add(func() Reason { return tokenReason(g, twin, "the same as") })
		}
	}
}

func tokenReason(g, earlier Grant, relation string) Reason {
	return Reason{
		Text: fmt.Sprintf("%s was granted %s with token %d at step %d, %s token %d that %s had been granted at step %d.",
			g.Client, g.Resource, g.Token, g.Granted, relation, earlier.Token, earlier.Client, earlier.Granted),
		At: []Pos{g.Granted, earlier.Granted},
	}
}
