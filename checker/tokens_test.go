package checker

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	failed := func(g Grant) Grant { g.ReleaseFailed = true; return g }
	notHeld := func(g Grant) Grant { g.ReleaseNotHeld = true; return g }
	for _, c := range []struct {
		name                    string
		entry                   Entry
		grants                  []Grant
		regressions, duplicates int
		says                    string
	}{
		// Each token is above the one before; gaps do not matter.
		{name: "growing", grants: []Grant{held(1, "c0", 2, 5).token(1), held(2, "c1", 10, 15).token(7)}},
		// A lock without tokens gives 0 each time: that is no token.
		{name: "no tokens", grants: []Grant{held(1, "c0", 2, 5), held(2, "c1", 10, 15)}},
		// A grant without a token does not reset anything.
		{name: "gap", grants: []Grant{held(1, "c0", 2, 5).token(3), held(2, "c1", 10, 15), held(3, "c0", 20, 25).token(2)},
			regressions: 1},
		// F09: the counter was lost and restarts.
		{name: "back", grants: []Grant{held(1, "c0", 2, 5).token(2), held(2, "c1", 10, 15).token(1)}, regressions: 1,
			says: "c1 was granted orders with token 1 at step 10, below token 2 that c0 had been granted at step 2."},
		// F42: two primaries count separately.
		{name: "twice", grants: []Grant{held(1, "c0", 2, 5).token(2), held(2, "c1", 10, 15).token(2)}, duplicates: 1,
			says: "c1 was granted orders with token 2 at step 10, the same as token 2 that c0 had been granted at step 2."},
		// A token can be both: below the highest, and a duplicate.
		{name: "both", grants: []Grant{held(1, "c0", 2, 5).token(1), held(2, "c1", 10, 15).token(2),
			held(3, "c0", 20, 25).token(1)},
			regressions: 1, duplicates: 1},
		// A grant counts once, however many precede it.
		{name: "counts grants", grants: []Grant{held(1, "c0", 2, 5).token(8), held(2, "c1", 10, 15).token(9),
			held(3, "c0", 20, 25).token(1)}, regressions: 1},
		// The highest of all matters, not the latest: 4 is above 3 and below 5.
		{name: "still below the highest", grants: []Grant{held(1, "c0", 2, 5).token(5), held(2, "c1", 10, 15).token(3),
			held(3, "c0", 20, 25).token(4)}, regressions: 2},
		// Grants that were in flight together have no order.
		{name: "in flight together", grants: []Grant{held(1, "c0", 6, 0).asked(2).token(2),
			held(2, "c1", 8, 0).asked(4).token(1)}},
		// But two of them never have one token,
		{name: "twice in flight", grants: []Grant{held(1, "c0", 6, 0).asked(2).token(1),
			held(2, "c1", 8, 0).asked(4).token(1)}, duplicates: 1,
			says: "c1 was granted orders with token 1 at step 8, the same as token 1 that c0 had been granted at step 6."},
		{name: "three times in flight", grants: []Grant{held(1, "c0", 6, 0).asked(2).token(1),
			held(2, "c1", 8, 0).asked(4).token(1), held(3, "c2", 9, 0).asked(3).token(1)}, duplicates: 2},
		// and claims that follow each other have an order although the calls have none.
		{name: "one claim after another", grants: []Grant{held(1, "c0", 6, 10).asked(2).token(2),
			held(2, "c1", 12, 0).asked(4).token(1)}, regressions: 1,
			says: "c1 was granted orders with token 1 at step 12, below token 2 that c0 had been granted at step 6."},
		{name: "one claim after another's end", grants: []Grant{held(1, "c0", 6, 30).asked(2).until(10, 0).token(2),
			held(2, "c1", 12, 0).asked(4).token(1)}, regressions: 1},
		{name: "claims that touch", grants: []Grant{held(1, "c0", 6, 12).asked(2).token(2),
			held(2, "c1", 12, 0).asked(4).token(1)}},
		{name: "claims that overlap", grants: []Grant{held(1, "c0", 6, 13).asked(2).token(2),
			held(2, "c1", 12, 0).asked(4).token(1)}},
		// The answer came after the end of the lease: it was minted before the other one.
		{name: "the second claim is empty", grants: []Grant{held(1, "c0", 6, 10).asked(2).token(2),
			held(2, "c1", 12, 0).asked(4).until(5, 0).token(1)}},
		{name: "the first claim is empty", grants: []Grant{held(1, "c0", 6, 10).asked(2).until(5, 0).token(2),
			held(2, "c1", 12, 0).asked(4).token(1)}},
		// The highest of all that ended counts, not the last that did.
		{name: "below a claim that ended before another", grants: []Grant{held(1, "c0", 6, 8).asked(2).token(4),
			held(2, "c1", 10, 11).asked(2).token(5), held(3, "c2", 14, 15).asked(2).token(3)}, regressions: 1},
		// A client whose release failed may still have the lock, and is granted it again,
		{name: "after a failed release", grants: []Grant{failed(held(1, "c0", 6, 10)).token(1),
			held(2, "c0", 14, 20).token(1), held(3, "c0", 24, 30).token(2)}},
		// not after one that said that it had it no more,
		{name: "after a release of nothing", grants: []Grant{notHeld(held(1, "c0", 6, 10)).token(1),
			held(2, "c0", 14, 20).token(1)}, duplicates: 1},
		// unless its process has ended,
		{name: "after a failed release and a crash", grants: []Grant{failed(held(1, "c0", 6, 10)).crashed(12).token(1),
			held(2, "c0", 14, 20).token(1)}, duplicates: 1},
		{name: "after a failed release, and then a crash", grants: []Grant{failed(held(1, "c0", 6, 10)).crashed(22).token(1),
			held(2, "c0", 14, 0).crashed(22).token(1)}},
		{name: "after a release that came then", grants: []Grant{failed(held(1, "c0", 6, 10)).token(1),
			held(2, "c0", 14, 20).token(1), held(3, "c0", 24, 30).token(1)}, duplicates: 1},
		// and no other client is.
		{name: "of another, after a failed release", grants: []Grant{failed(held(1, "c0", 6, 10)).token(1),
			held(2, "c1", 14, 20).token(1)}, duplicates: 1},
		{name: "entered again while it asks", entry: EntryReentrant, grants: []Grant{held(1, "c0", 6, 20).asked(2).token(1),
			held(2, "c0", 8, 10).asked(3).token(1)}},
		{name: "entered by another while it asks", entry: EntryReentrant,
			grants: []Grant{held(1, "c0", 6, 20).asked(2).token(1), held(2, "c1", 8, 10).asked(3).token(1)}, duplicates: 1},
		// The first returned at the position at which the second was invoked: no order either.
		{name: "touching", grants: []Grant{held(1, "c0", 6, 0).token(2), held(2, "c1", 8, 0).asked(6).token(1)}},
		// One position later there is one.
		{name: "just ordered", grants: []Grant{held(1, "c0", 6, 0).token(2), held(2, "c1", 8, 0).asked(7).token(1)},
			regressions: 1},
		// Each resource has its own counter. A reentrant lock gives all entries of one hold the token of that hold
		// (F34).
		{name: "entered again", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30).token(1),
			held(2, "c0", 10, 20).token(1), held(3, "c1", 40, 50).token(2)}},
		{name: "entered again, two inner", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30).token(1),
			held(2, "c0", 10, 12).token(1), held(3, "c0", 15, 18).token(1)}},
		{name: "entered again, outer left first", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 14).token(1),
			held(2, "c0", 10, 20).token(1), held(3, "c0", 16, 18).token(1)}},
		// The answer to the inner request arrived after the end of the outer validity: the node still had the key.
		{name: "entered again late", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30).until(8, 0).token(1),
			held(2, "c0", 10, 20).token(1)}},
		// Only while one of them has not ended,
		{name: "came back", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 5).token(1),
			held(2, "c0", 10, 20).token(1)}, duplicates: 1},
		// only for that client,
		{name: "entered by another", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30).token(1),
			held(2, "c1", 10, 20).token(1)}, duplicates: 1,
			says: "c1 was granted orders with token 1 at step 10, the same as token 1 that c0 had been granted at step 2."},
		{name: "entered by another in between", entry: EntryReentrant,
			grants:     []Grant{held(1, "c0", 2, 30).token(1), held(2, "c1", 10, 12).token(1), held(3, "c0", 15, 20).token(1)},
			duplicates: 2},
		{name: "entered behind another", entry: EntryReentrant,
			grants:     []Grant{held(1, "c1", 2, 4).token(1), held(2, "c0", 6, 20).token(1), held(3, "c0", 9, 12).token(1)},
			duplicates: 2,
			says:       "c0 was granted orders with token 1 at step 9, the same as token 1 that c1 had been granted at step 2."},
		// and only if the lock is reentrant.
		{name: "same client", grants: []Grant{held(1, "c0", 2, 30).token(1), held(2, "c0", 10, 20).token(1)}, duplicates: 1},
		// An entry can be below the tokens of others.
		{name: "entered again, gone by", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30).token(1),
			held(2, "c1", 10, 12).token(2), held(3, "c0", 15, 20).token(1)}, regressions: 1},
		{name: "other resource", grants: []Grant{held(1, "c0", 2, 5).token(2), held(2, "c1", 10, 15).of("stock").token(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Entry = c.entry
			for i, g := range h.Grants {
				h.Grants[i].ReleaseSucceeded = g.ReleaseReturned > 0 && !g.ReleaseFailed && !g.ReleaseNotHeld
			}
			v := mustJudge(t, h, nil)
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

// The counts must be those of the definition, applied to all pairs.
func TestTokensAgainstBruteForce(t *testing.T) {
	var regressions, duplicates, right int
	for seed := range uint64(4_000) {
		h := randomTokens(rand.New(rand.NewPCG(seed, 12)))
		f := mustJudge(t, h, nil).Facts
		back, twice := bruteTokens(h)
		if f.TokenRegressions != back || f.TokenDuplicates != twice {
			t.Fatalf("seed %d: regressions %d, duplicates %d, brute force says %d and %d\n%+v", seed, f.TokenRegressions,
				f.TokenDuplicates, back, twice, h)
		}
		regressions, duplicates = regressions+min(back, 1), duplicates+min(twice, 1)
		count(&right, back+twice == 0)
	}
	if min(regressions, duplicates, right) < 400 {
		t.Errorf("the generator is unbalanced: regressions %d, duplicates %d, right %d", regressions, duplicates, right)
	}
}

// randomTokens are grants whose tokens mostly grow.
func randomTokens(rng *rand.Rand) History {
	h := History{Entry: []Entry{"", EntryReentrant}[rng.IntN(2)]}
	for i := range 1 + rng.IntN(6) {
		g := randomGrant(rng, i+1)
		g.Invoked = max(1, g.Granted-Pos(rng.IntN(6)))
		g.Token = uint64(max(0, int(g.Granted)/8+rng.IntN(3)-1))
		if g.ReleaseReturned > 0 {
			g.ReleaseSucceeded = rng.IntN(4) > 0
			g.ReleaseNotHeld = !g.ReleaseSucceeded && rng.IntN(2) == 0
		}
		h.Grants = append(h.Grants, g)
	}
	return h
}

func bruteTokens(h History) (back, twice int) {
	for _, g := range h.Grants {
		below, own, others := false, false, false
		standing := false // an earlier entry that has neither been released nor crashed
		var last Grant    // of the same client
		for _, e := range h.Grants {
			if e.ID == g.ID || e.Resource != g.Resource || e.Token == 0 || g.Token == 0 {
				continue
			}
			follows := !e.Claim().Empty() && !g.Claim().Empty() && e.Claim().end() < g.Granted
			below = below || e.Token > g.Token && (e.Granted < g.Invoked || follows)
			switch {
			case e.Token != g.Token || e.Granted > g.Granted || e.Granted == g.Granted && e.ID > g.ID:
			case e.Client != g.Client:
				others = true
			default:
				own = true
				standing = standing || h.Entry == EntryReentrant && (e.Released == 0 || e.Released > g.Invoked) &&
					(e.Crashed == 0 || e.Crashed > g.Invoked)
				if e.Granted > last.Granted || e.Granted == last.Granted && e.ID > last.ID {
					last = e
				}
			}
		}
		count(&back, below)
		standing = standing || last.ReleaseReturned > 0 && !last.ReleaseSucceeded && !last.ReleaseNotHeld &&
			(last.Crashed == 0 || last.Crashed > g.Invoked)
		count(&twice, others || own && !standing)
	}
	return back, twice
}
