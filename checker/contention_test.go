package checker

import (
	"math/rand/v2"
	"testing"
)

func TestContended(t *testing.T) {
	waited := func(client string, from, to Pos) Attempt {
		return Attempt{Client: client, Resource: "orders", Invoked: from, Returned: to, Outcome: OutcomeFailed}
	}
	for _, c := range []struct {
		name     string
		grants   []Grant
		attempts []Attempt
		want     int
	}{
		// No client is in the way of another.
		{name: "alone", grants: []Grant{held(1, "c0", 2, 5), held(2, "c1", 10, 15)}},
		// c1 asks while c0 holds.
		{name: "asks a holder", grants: []Grant{held(1, "c0", 2, 12), held(2, "c1", 14, 20).asked(8)}, want: 1},
		// Both ask at once: the second is kept out by the claim of the first.
		{name: "ask together", grants: []Grant{held(1, "c0", 6, 12).asked(2), held(2, "c1", 14, 20).asked(4)}, want: 1},
		// A client does not contend with itself.
		{name: "same client", grants: []Grant{held(1, "c0", 2, 12), held(2, "c0", 14, 20).asked(8)}},
		// Nor with the holder of another resource.
		{name: "other resource", grants: []Grant{held(1, "c0", 2, 12).of("stock"), held(2, "c1", 14, 20).asked(8)}},
		// Invoked at the position of the release: the lock is free.
		{name: "touching", grants: []Grant{held(1, "c0", 2, 12), held(2, "c1", 14, 20).asked(12)}},
		// An attempt that gave up was contended too.
		{name: "gave up", grants: []Grant{held(1, "c0", 2, 30)}, attempts: []Attempt{waited("c1", 10, 20)}, want: 1},
		// Two attempts do not keep each other out.
		{name: "two attempts", attempts: []Attempt{waited("c0", 10, 20), waited("c1", 15, 25)}},
		// A claim that is empty keeps nobody out.
		{name: "empty claim", grants: []Grant{held(1, "c0", 6, 30).until(6, 0), held(2, "c1", 14, 20).asked(4)}},
		// An attempt that never returned counts only at its invocation.
		{name: "never returned", attempts: []Attempt{waited("c0", 10, 0), waited("c1", 15, 25)}},
		{name: "never returned, met a holder", grants: []Grant{held(1, "c0", 2, 30)},
			attempts: []Attempt{waited("c1", 10, 0)}, want: 1},
		// A holder whose claim has ended is in no client's way.
		{name: "claim over", grants: []Grant{held(1, "c0", 2, 30).until(6, 0), held(2, "c1", 14, 20).asked(8)}},
		// A long claim is not hidden by a later, shorter one of the same
		// client.
		{name: "long and short", grants: []Grant{held(1, "c0", 2, 50), held(2, "c0", 10, 12),
			held(3, "c1", 42, 60).asked(40)}, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Attempts = c.attempts
			f := mustJudge(t, h, nil).Facts
			if f.Contended != c.want {
				t.Errorf("contended %d, want %d", f.Contended, c.want)
			}
			if f.Grants != len(c.grants) || f.Attempts != len(c.attempts) {
				t.Errorf("grants %d, attempts %d, want %d and %d", f.Grants, f.Attempts, len(c.grants), len(c.attempts))
			}
		})
	}
}

// The count must be that of the definition, applied to all pairs.
func TestContendedAgainstBruteForce(t *testing.T) {
	sum, acquires := 0, 0
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		h := History{}
		for i := range 1 + rng.IntN(4) {
			g := randomGrant(rng, i+1)
			g.Invoked = max(1, g.Granted-Pos(rng.IntN(8)))
			h.Grants = append(h.Grants, g)
			if p := Pos(1 + rng.IntN(50)); rng.IntN(2) == 0 {
				h.Attempts = append(h.Attempts, Attempt{Client: "c2", Resource: "orders", Invoked: p,
					Returned: p + Pos(rng.IntN(6)), Outcome: OutcomeUnknown})
			}
		}
		got, want := mustJudge(t, h, nil).Facts.Contended, bruteContended(h)
		if got != want {
			t.Fatalf("seed %d: contended %d, brute force says %d\n%+v", seed, got, want, h)
		}
		sum, acquires = sum+got, acquires+len(h.Grants)+len(h.Attempts)
	}
	if sum < acquires/10 || sum > acquires*9/10 {
		t.Errorf("%d of %d acquires contended: the generator is unbalanced", sum, acquires)
	}
}

func bruteContended(h History) int {
	type span struct {
		client          string
		resource        Resource
		asking, holding Interval
	}
	var all []span
	for _, g := range h.Grants {
		all = append(all, span{g.Client, g.Resource, Interval{Start: g.Invoked, End: max(g.Granted, g.Invoked+1)}, g.Claim()})
	}
	for _, a := range h.Attempts {
		all = append(all, span{a.Client, a.Resource, Interval{Start: a.Invoked, End: max(a.Returned, a.Invoked+1)},
			Interval{Start: 1, End: 1}})
	}
	count := 0
	for _, a := range all {
		met := false
		for _, b := range all {
			met = met || a.client != b.client && a.resource == b.resource && !b.holding.Empty() && a.asking.Overlaps(b.holding)
		}
		if met {
			count++
		}
	}
	return count
}
