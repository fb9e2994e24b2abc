package checker

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		name            string
		care            Care
		entry           Entry
		grants          []Grant
		claims, beliefs int
		says            string
	}{
		// The next grant comes after the release: nothing overlaps.
		{name: "in turn", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 12, 20)}},
		// It comes at the very position of the release: intervals are half-open.
		{name: "touching", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 10, 20)}},
		// It comes one position too early.
		{name: "one step too early", grants: []Grant{held(1, "c0", 2, 11), held(2, "c1", 10, 20)}, claims: 1, beliefs: 1,
			says: "c1 was granted orders at step 10, while c0's claim from step 2 went on to step 11, when it released."},
		// The lock gave one resource to both, and the data never noticed.
		{name: "no harm done", grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)}, claims: 1, beliefs: 1},
		// Two resources are two locks.
		{name: "other resource", grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20).of("stock")}},
		// Three at once are three pairs; each counts once.
		{name: "three at once", grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 31), held(3, "c2", 12, 32)}, claims: 3, beliefs: 3},
		// A client that is granted what it holds already breaks the promise too.
		{name: "same client", grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)}, claims: 1, beliefs: 1},
		{name: "same client, exclusive", entry: EntryExclusive, grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)}, claims: 1, beliefs: 1},
		// If the lock is reentrant, that is what it promised, in whatever order the
		// entries end.
		{name: "entered again", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)}},
		{name: "entered again, left first", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 20)}},
		// Another client is kept out by each of the entries.
		{name: "entered by another", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20), held(3, "c1", 12, 14)}, claims: 2, beliefs: 2},
		{name: "entered by another too early", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 20), held(3, "c1", 18, 24)}, claims: 1, beliefs: 1},
		{name: "entered by another in time", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 20), held(3, "c1", 20, 24)}},
		{name: "inner outlived", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 30).until(20, 0), held(3, "c1", 22, 24)}, beliefs: 1},
		// The validity ended on the holder's clock, the holder went on: it outlived
		// its claim, and the lock did nothing wrong.
		{name: "outlived", grants: []Grant{held(1, "c0", 2, 30).until(8, 0), held(2, "c1", 10, 20)}, beliefs: 1,
			says: "c1 was granted orders at step 10, while c0 outlived its claim: its belief from step 2 went on to step 30, when it released."},
		// Who never looks is not helped by a notice.
		{name: "never looks", care: CareNever, grants: []Grant{held(1, "c0", 2, 30).lost(7, 8).until(8, 9), held(2, "c1", 10, 20)}, beliefs: 1},
		// Who heeds notices is.
		{name: "heeds the notice", care: CareLost, grants: []Grant{held(1, "c0", 2, 30).lost(7, 8), held(2, "c1", 10, 20)}},
		// But not by looking at the clock.
		{name: "heeds no clock", care: CareLost, grants: []Grant{held(1, "c0", 2, 30).until(8, 9), held(2, "c1", 10, 20)}, beliefs: 1},
		// Who looks before each step heeds both.
		{name: "heeds the clock", care: CareSteps, grants: []Grant{held(1, "c0", 2, 30).until(8, 9), held(2, "c1", 10, 20)}},
		{name: "steps heed the notice", care: CareSteps, grants: []Grant{held(1, "c0", 2, 30).lost(7, 8), held(2, "c1", 10, 20)}},
		// The notice came in time and was seen too late, after a pause.
		{name: "sees it late", care: CareSteps, grants: []Grant{held(1, "c0", 2, 30).lost(7, 15), held(2, "c1", 10, 20)}, beliefs: 1,
			says: "when it saw the notice of the loss"},
		// A loss ends the claim, whoever sees it.
		{name: "announced loss", care: CareLost, grants: []Grant{held(1, "c0", 2, 30).lost(12, 13), held(2, "c1", 10, 20)}, claims: 1, beliefs: 1,
			says: "went on to step 12, when the lock announced the loss."},
		// A crash ends both.
		{name: "crash", grants: []Grant{held(1, "c0", 2, 0).crashed(8), held(2, "c1", 10, 20)}},
		// A holder that never ends anything overlaps whatever comes.
		{name: "open end", grants: []Grant{held(1, "c0", 2, 0), held(2, "c1", 10, 20), held(3, "c2", 30, 40)}, claims: 2, beliefs: 2,
			says: "while c0's claim from step 2 had no end."},
		// The answer came after the validity it spoke of: the claim is empty, the
		// belief is not.
		{name: "granted too late", grants: []Grant{held(1, "c0", 10, 30).until(8, 0), held(2, "c1", 12, 20)}, beliefs: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Care, h.Entry = c.care, c.entry
			v := mustJudge(t, h, nil)
			if v.Facts.ClaimOverlaps != c.claims || v.Facts.BeliefOverlaps != c.beliefs {
				t.Errorf("claims %d, beliefs %d, want %d and %d", v.Facts.ClaimOverlaps, v.Facts.BeliefOverlaps, c.claims, c.beliefs)
			}
			if want := map[bool]Label{true: Overlap, false: Safe}[c.beliefs > 0]; v.Label != want {
				t.Errorf("label %s, want %s", v.Label, want)
			}
			if !strings.Contains(v.Reasons[0].Text, c.says) {
				t.Errorf("first reason %q\nlacks %q", v.Reasons[0].Text, c.says)
			}
		})
	}
}

// Each pair is explained once: by its claims if they overlap, else by its beliefs.
func TestOverlapsExplainedOnce(t *testing.T) {
	v := mustJudge(t, story("", []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)}), nil)
	if len(v.Reasons) != 1 {
		t.Errorf("reasons %q, want one", texts(v.Reasons))
	}
}

// Beyond the bound only the count goes on.
func TestManyOverlaps(t *testing.T) {
	var grants []Grant
	for i := range 20 {
		grants = append(grants, held(i+1, "c0", Pos(i+2), 100))
	}
	v := mustJudge(t, story("", grants), nil)
	if v.Facts.ClaimOverlaps != 190 || len(v.Reasons) != maxReasons+1 {
		t.Errorf("overlaps %d in %d reasons, want 190 in %d", v.Facts.ClaimOverlaps, len(v.Reasons), maxReasons+1)
	}
	if got, want := v.Reasons[maxReasons].Text, "There are 180 more overlaps of claims."; got != want {
		t.Errorf("last reason %q, want %q", got, want)
	}
}

// The counts of pairs must be those of a search over all pairs and positions.
func TestOverlapsAgainstBruteForce(t *testing.T) {
	overlapping := 0
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		h := History{Care: []Care{CareNever, CareLost, CareSteps}[rng.IntN(3)], Liveness: LivenessOK, Entry: []Entry{"", EntryReentrant}[rng.IntN(2)]}
		for i := range 1 + rng.IntN(6) {
			h.Grants = append(h.Grants, randomGrant(rng, i+1))
		}
		f := mustJudge(t, h, nil).Facts
		claims := sharedPositions(h, Grant.Claim)
		beliefs := sharedPositions(h, func(g Grant) Interval { return g.Belief(h.Care) })
		if f.ClaimOverlaps != claims || f.BeliefOverlaps != beliefs {
			t.Fatalf("seed %d: claims %d, beliefs %d, brute force says %d and %d\n%+v",
				seed, f.ClaimOverlaps, f.BeliefOverlaps, claims, beliefs, h.Grants)
		}
		overlapping += min(claims, 1)
	}
	if overlapping < 200 || overlapping > 1800 {
		t.Errorf("%d of 2000 histories overlap: the generator is lopsided", overlapping)
	}
}

// randomGrant ends in a random subset of the ways there are.
func randomGrant(rng *rand.Rand, id int) Grant {
	granted := Pos(2 + rng.IntN(40))
	g := Grant{ID: id, Client: []string{"c0", "c1"}[rng.IntN(2)], Resource: []string{"orders", "stock"}[rng.IntN(2)],
		Invoked: granted - 1, Granted: granted, Token: uint64(rng.IntN(4))}
	later := func() Pos { return granted + Pos(rng.IntN(12)) }
	if rng.IntN(2) == 0 {
		g.Released = later()
	}
	if rng.IntN(3) == 0 {
		g.Lost = later()
		g.LostSeen = g.Lost + Pos(rng.IntN(5))
	}
	if rng.IntN(3) == 0 {
		g.Until = later()
		g.UntilSeen = g.Until + Pos(rng.IntN(5))
	}
	if rng.IntN(4) == 0 {
		g.Crashed = max(later(), g.Released, g.LostSeen, g.UntilSeen)
	}
	return g
}

// sharedPositions counts the pairs of grants of a resource that have a position
// in common and should not, by trying all positions up to well behind the last.
func sharedPositions(h History, of func(Grant) Interval) int {
	count := 0
	for i, a := range h.Grants {
		for _, b := range h.Grants[:i] {
			shared := false
			if h.Entry == EntryReentrant && a.Client == b.Client {
				continue
			}
			for p := Pos(1); p < 100; p++ {
				within := func(i Interval) bool { return p >= i.Start && (i.End == 0 || p < i.End) }
				shared = shared || a.Resource == b.Resource && within(of(a)) && within(of(b))
			}
			if shared {
				count++
			}
		}
	}
	return count
}
