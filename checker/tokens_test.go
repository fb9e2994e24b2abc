package checker

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name                    string
		grants                  []Grant
		regressions, duplicates int
		says                    string
	}{
		// Each token is above the one before; gaps do not matter.
		{name: "growing", grants: []Grant{held(1, "c0", 2, 5).token(1), held(2, "c1", 10, 15).token(7)}},
		// A lock without tokens mints 0 each time: that is no token at all.
		{name: "no tokens", grants: []Grant{held(1, "c0", 2, 5), held(2, "c1", 10, 15)}},
		// A grant without a token does not reset anything.
		{name: "gap", grants: []Grant{held(1, "c0", 2, 5).token(3), held(2, "c1", 10, 15), held(3, "c0", 20, 25).token(2)}, regressions: 1},
		// F09: the counter was lost and starts again.
		{name: "back", grants: []Grant{held(1, "c0", 2, 5).token(2), held(2, "c1", 10, 15).token(1)}, regressions: 1,
			says: "c1 was granted orders with token 1 at step 10, below token 2 that c0 had been granted at step 2."},
		// F42: two masters count on their own.
		{name: "twice", grants: []Grant{held(1, "c0", 2, 5).token(2), held(2, "c1", 10, 15).token(2)}, duplicates: 1,
			says: "c1 was granted orders with token 2 at step 10, the same as token 2 that c0 had been granted at step 2."},
		// A token can be both: below the highest, and given out before.
		{name: "both", grants: []Grant{held(1, "c0", 2, 5).token(1), held(2, "c1", 10, 15).token(2), held(3, "c0", 20, 25).token(1)},
			regressions: 1, duplicates: 1},
		// A grant counts once, however many went before it.
		{name: "counts grants", grants: []Grant{held(1, "c0", 2, 5).token(8), held(2, "c1", 10, 15).token(9), held(3, "c0", 20, 25).token(1)}, regressions: 1},
		// The highest of all counts, not the latest: 4 is above 3 and below 5.
		{name: "still below the highest", grants: []Grant{held(1, "c0", 2, 5).token(5), held(2, "c1", 10, 15).token(3), held(3, "c0", 20, 25).token(4)}, regressions: 2},
		// Grants that were in flight together have no order to keep.
		{name: "in flight together", grants: []Grant{held(1, "c0", 6, 0).asked(2).token(2), held(2, "c1", 8, 0).asked(4).token(1)}},
		// The first returned at the position at which the second was asked for: no
		// order either.
		{name: "touching", grants: []Grant{held(1, "c0", 6, 0).token(2), held(2, "c1", 8, 0).asked(6).token(1)}},
		// One position later there is one.
		{name: "just ordered", grants: []Grant{held(1, "c0", 6, 0).token(2), held(2, "c1", 8, 0).asked(7).token(1)}, regressions: 1},
		// Each resource counts on its own.
		{name: "other resource", grants: []Grant{held(1, "c0", 2, 5).token(2), held(2, "c1", 10, 15).of("stock").token(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, story("", c.grants), nil)
			if v.Facts.TokenRegressions != c.regressions || v.Facts.TokenDuplicates != c.duplicates {
				t.Errorf("regressions %d, duplicates %d, want %d and %d",
					v.Facts.TokenRegressions, v.Facts.TokenDuplicates, c.regressions, c.duplicates)
			}
			if all := strings.Join(texts(v.Reasons), "\n"); !strings.Contains(all, c.says) {
				t.Errorf("reasons:\n%s\nlack %q", all, c.says)
			}
		})
	}
}
