package checker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A position is in a claim or a belief if it is not before the grant and not
// after any ending that counts.
func TestClaimAndBelief(t *testing.T) {
	for seed := range uint64(2_000) {
		g := randomGrant(rand.New(rand.NewPCG(seed, 8)), 1)
		for _, c := range []struct {
			name    string
			got     Interval
			endings []Pos
		}{
			{"claim", g.Claim(), []Pos{g.Released, g.Lost, g.Until, g.Crashed}},
			{"belief, never", g.Belief(CareNever), []Pos{g.Released, g.Crashed}},
			{"belief, no care named", g.Belief(""), []Pos{g.Released, g.Crashed}},
			{"belief, lost", g.Belief(CareLost), []Pos{g.Released, g.Crashed, g.LostSeen}},
			{"belief, steps", g.Belief(CareSteps), []Pos{g.Released, g.Crashed, g.LostSeen, g.UntilSeen}},
		} {
			for p := range Pos(80) {
				ended := slices.ContainsFunc(c.endings, func(e Pos) bool { return e > 0 && e <= p })
				if want := p >= g.Granted && !ended; c.got.Contains(p) != want {
					t.Fatalf("seed %d: %s %+v contains %d: %t, want %t\n%+v", seed, c.name, c.got, p, !want, want, g)
				}
			}
		}
	}
}

// A claim is within the belief, for each degree of care.
func TestClaimWithinBelief(t *testing.T) {
	for seed := range uint64(2_000) {
		g := randomGrant(rand.New(rand.NewPCG(seed, 9)), 1)
		for _, care := range []Care{CareNever, CareLost, CareSteps} {
			if g.Claim().end() > g.Belief(care).end() {
				t.Fatalf("seed %d: claim %+v, belief %+v", seed, g.Claim(), g.Belief(care))
			}
		}
	}
}

// What ended an interval is named; of two endings at one position the first in
// the order of the definition.
func TestEndedBy(t *testing.T) {
	for _, c := range []struct {
		g    Grant
		want string
	}{
		{held(1, "c0", 2, 9).until(12, 0), "it released"},
		{held(1, "c0", 2, 9).lost(5, 0), "the lock announced the loss"},
		{held(1, "c0", 2, 9).until(5, 0).lost(7, 0), "its validity ended"},
		{held(1, "c0", 2, 0).crashed(5), "it crashed"},
		{held(1, "c0", 2, 9).until(9, 0), "it released"},
		{held(1, "c0", 2, 0), "nothing"},
	} {
		if got := c.g.Claim().Ended; got != c.want {
			t.Errorf("claim of %+v ended by %q, want %q", c.g, got, c.want)
		}
	}
}
