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
		// It is at the position of the release: intervals are half-open.
		{name: "touching", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 10, 20)}},
		// It comes one position too early.
		{name: "one step too early", grants: []Grant{held(1, "c0", 2, 11), held(2, "c1", 10, 20)}, claims: 1, beliefs: 1,
			says: "c1 was granted orders at step 10, while c0's claim from step 2 went on to step 11, when it released."},
		// The lock granted one resource to both, without an effect on the data.
		{name: "no harm done", grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)}, claims: 1, beliefs: 1},
		// Two resources are two locks.
		{name: "other resource", grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20).of("stock")}},
		// Three at once are three pairs; each counts once.
		{name: "three at once", grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 31), held(3, "c2", 12, 32)},
			claims: 3, beliefs: 3},
		// A client that is granted what it holds already breaks the promise too.
		{name: "same client", grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)}, claims: 1, beliefs: 1},
		{name: "no lock", entry: EntryShared, grants: []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)}},
		{name: "same client, exclusive", entry: EntryExclusive, grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)},
			claims: 1, beliefs: 1},
		// If the lock is reentrant, that keeps the promise, in whatever order
		// the entries end.
		{name: "entered again", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)}},
		{name: "entered again, left first", entry: EntryReentrant,
			grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 20)}},
		// Each of the entries excludes another client.
		{name: "entered by another", entry: EntryReentrant, grants: []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20),
			held(3, "c1", 12, 14)}, claims: 2, beliefs: 2},
		{name: "entered by another too early", entry: EntryReentrant,
			grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 20), held(3, "c1", 18, 24)}, claims: 1, beliefs: 1},
		{name: "entered by another in time", entry: EntryReentrant,
			grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 20), held(3, "c1", 20, 24)}},
		{name: "inner outlived", entry: EntryReentrant,
			grants: []Grant{held(1, "c0", 2, 15), held(2, "c0", 10, 30).until(20, 0), held(3, "c1", 22, 24)}, beliefs: 1},
		// The validity ended on the holder's clock, and the holder went on: it
		// outlived its claim, and the lock kept its promise.
		{name: "outlived", grants: []Grant{held(1, "c0", 2, 30).until(8, 0), held(2, "c1", 10, 20)}, beliefs: 1,
			says: "c1 was granted orders at step 10, while c0 outlived its claim: its belief from step 2 went on to step 30, " +
				"when it released."},
		// With CareNever a notice has no effect.
		{name: "never checks", care: CareNever, grants: []Grant{held(1, "c0", 2, 30).lost(7, 8).until(8, 9),
			held(2, "c1", 10, 20)}, beliefs: 1},
		// With CareLost it has.
		{name: "observes the notice", care: CareLost, grants: []Grant{held(1, "c0", 2, 30).lost(7, 8),
			held(2, "c1", 10, 20)}},
		// But the end of the validity has none.
		{name: "observes no clock", care: CareLost, grants: []Grant{held(1, "c0", 2, 30).until(8, 9), held(2, "c1", 10, 20)},
			beliefs: 1},
		// With CareSteps both have.
		{name: "observes the clock", care: CareSteps, grants: []Grant{held(1, "c0", 2, 30).until(8, 9),
			held(2, "c1", 10, 20)}},
		{name: "steps observe the notice", care: CareSteps, grants: []Grant{held(1, "c0", 2, 30).lost(7, 8),
			held(2, "c1", 10, 20)}},
		// The notice came in time and was seen too late, after a pause.
		{name: "sees it late", care: CareSteps, grants: []Grant{held(1, "c0", 2, 30).lost(7, 15), held(2, "c1", 10, 20)},
			beliefs: 1,
			says:    "when it saw the notice of the loss"},
		// A loss ends the claim, observed or not.
		{name: "announced loss", care: CareLost, grants: []Grant{held(1, "c0", 2, 30).lost(12, 13), held(2, "c1", 10, 20)},
			claims: 1, beliefs: 1,
			says: "went on to step 12, when the lock announced the loss."},
		// A crash ends both.
		{name: "crash", grants: []Grant{held(1, "c0", 2, 0).crashed(8), held(2, "c1", 10, 20)}},
		// A grant without an end overlaps every later one.
		{name: "open end", grants: []Grant{held(1, "c0", 2, 0), held(2, "c1", 10, 20), held(3, "c2", 30, 40)}, claims: 2,
			beliefs: 2,
			says:    "while c0's claim from step 2 had no end."},
		// The answer arrived after the end of the validity: the claim is empty,
		// the belief is not.
		{name: "granted too late", grants: []Grant{held(1, "c0", 10, 30).until(8, 0), held(2, "c1", 12, 20)}, beliefs: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Care, h.Entry = c.care, c.entry
			v := mustJudge(t, h, nil)
			if v.Facts.ClaimOverlaps != c.claims || v.Facts.BeliefOverlaps != c.beliefs {
				t.Errorf("claims %d, beliefs %d, want %d and %d", v.Facts.ClaimOverlaps, v.Facts.BeliefOverlaps, c.claims,
					c.beliefs)
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

// Beyond the bound only the count grows.
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
		h := History{Care: []Care{CareNever, CareLost, CareSteps}[rng.IntN(3)],
			Entry: []Entry{"", EntryReentrant}[rng.IntN(2)]}
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
		shared, broken := SharedGrants(h), 0
		for _, s := range shared {
			if s.Claims {
				broken++
			}
			if at := s.Granted.Granted; !s.Held.Belief(h.Care).Contains(at) || s.Held.Granted > at {
				t.Fatalf("seed %d: at step %d nobody had %+v", seed, at, s.Held)
			}
		}
		if len(shared) != beliefs || broken != claims {
			t.Fatalf("seed %d: %d shared grants, %d of them claims, brute force says %d and %d", seed, len(shared), broken,
				beliefs, claims)
		}
		overlapping += min(claims, 1)
	}
	if overlapping < 200 || overlapping > 1800 {
		t.Errorf("%d of 2000 histories overlap: the generator is unbalanced", overlapping)
	}
}

// randomGrant ends in a random subset of the possible ways.
func randomGrant(rng *rand.Rand, id int) Grant {
	granted := Pos(2 + rng.IntN(40))
	g := Grant{ID: id, Client: []string{"c0", "c1"}[rng.IntN(2)], Resource: []Resource{"orders", "stock"}[rng.IntN(2)],
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
// in common and must not, by trying all positions.
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

// Sentences, and the names of cells, quote the name of a resource that is not one plain word.
func TestSentencesQuoteNames(t *testing.T) {
	a, b := held(1, "c0", 2, 50).of("a b"), held(2, "c1", 14, 30).of("a b")
	v := mustJudge(t, story("", []Grant{a, b}), nil)
	if want := `c1 was granted "a b" at step 14, while c0's claim`; !strings.HasPrefix(v.Reasons[0].Text, want) {
		t.Errorf("it says %q, want %q", v.Reasons[0].Text, want)
	}
	for cell, want := range map[Cell]string{{Resource: "a b", Register: "x"}: `"a b"/x`, {Resource: "é"}: "é",
		{Resource: "\x00"}: `"\x00"`} {
		if got := cell.String(); got != want {
			t.Errorf("the cell is %s, want %s", got, want)
		}
	}
}
