package checker

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFencing(t *testing.T) {
	// c0's validity ends at 10; c1 holds from 20 to 40.
	old, next := held(1, "c0", 2, 80).until(10, 0).token(33), held(2, "c1", 20, 40).token(34)
	both := []Grant{old, next}
	for _, c := range []struct {
		name                        string
		h                           History
		accepted, rejected, falsely int
		says                        string
	}{
		// Both write during their claims: nothing is stale.
		{name: "in turn", h: story("b1", both, old.write("a1", 5, ""), next.write("b1", 22, "a1"))},
		// The claim has ended but there is no later grant: late, not stale.
		{name: "late", h: story("a1", both, old.write("a1", 15, ""))},
		// F14: the stale write precedes the new holder's first step. It does no
		// harm, since the new holder's write is based on it; it counts
		// nevertheless.
		{name: "harmless stale write", accepted: 1, says: "c0's stale write a1 with token 33 was accepted at step 22: c1 " +
			"had been granted orders with token 34 at step 20.",
			h: story("b1", both, old.write("a1", 21, ""), next.read("b0", 25, "a1"), next.write("b1", 28, "a1"))},
		// The write was sent in time and arrived late: the instant of the
		// store's decision counts.
		{name: "sent in time", accepted: 1, h: story("a1", both, old.write("a1", 9, "").unanswered(30))},
		// The fence refused a stale write.
		{name: "refused", rejected: 1, says: "c0's stale write a1 with token 33 was refused at step 31",
			h: story("", both, old.write("a1", 30, "").refused())},
		// A refused stale read counts too: the section ends there.
		{name: "refused read", rejected: 1, h: story("", both, old.read("a1", 30, "").refused())},
		// A stale read that was answered changes nothing.
		{name: "answered read", h: story("", both, old.read("a1", 30, ""))},
		// A stale write that never arrived does not count.
		{name: "never arrived", h: story("", both, old.write("a1", 30, "").unanswered(0))},
		// F06, F10: the only holder is refused.
		{name: "false reject", falsely: 1, says: "c1's write b1 with token 34 was refused at step 26, although nobody else " +
			"had a claim on orders: it had been granted to c1 at step 20.",
			h: story("", both, next.write("b1", 25, "").refused())},
		// So is its read.
		{name: "false reject of a read", falsely: 1, h: story("", both, next.read("b1", 25, "").refused())},
		// The refusal of a client whose claim has ended is not false.
		{name: "claim over", h: story("", both, old.write("a1", 15, "").refused())},
		// Two clients have a claim: the refusal of either is not false.
		{name: "two claimants", rejected: 1,
			h: story("", []Grant{held(1, "c0", 2, 80), next}, held(1, "c0", 2, 80).write("a1", 30, "").refused())},
		// c0 lost its lock to c1, which released it. c0 has the only claim
		// again, and is stale; refusing it is the fence's task.
		{name: "overtaken", rejected: 1,
			h: story("", []Grant{held(1, "c0", 2, 80), next}, held(1, "c0", 2, 80).write("a1", 60, "").refused())},
		// F34: the inner grant is the same client's. Its own newer token causes
		// the refusal, which is both stale and false.
		{name: "own younger token", rejected: 1, falsely: 1,
			h: story("", []Grant{held(1, "c0", 2, 80), held(2, "c0", 20, 40)},
				held(1, "c0", 2, 80).write("a1", 60, "").refused())},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			f := v.Facts
			if f.StaleAccepted != c.accepted || f.StaleRejected != c.rejected || f.FalseRejects != c.falsely {
				t.Errorf("accepted %d, rejected %d, false %d, want %d, %d, %d",
					f.StaleAccepted, f.StaleRejected, f.FalseRejects, c.accepted, c.rejected, c.falsely)
			}
			if all := strings.Join(texts(v.Reasons), "\n"); !strings.Contains(all, c.says) {
				t.Errorf("reasons:\n%s\nlack %q", all, c.says)
			}
		})
	}
}

// The counts must be those of the definitions, applied grant by grant.
func TestFencingAgainstBruteForce(t *testing.T) {
	var sum Facts
	for seed := range uint64(3_000) {
		h := randomRefusals(rand.New(rand.NewPCG(seed, 2)))
		got, want := mustJudge(t, h, nil).Facts, bruteFencing(h)
		if got.StaleAccepted != want.StaleAccepted || got.StaleRejected != want.StaleRejected ||
			got.FalseRejects != want.FalseRejects {
			t.Fatalf("seed %d: got %+v, brute force says %+v\n%+v", seed, got, want, h)
		}
		sum.StaleAccepted += got.StaleAccepted
		sum.StaleRejected += got.StaleRejected
		sum.FalseRejects += got.FalseRejects
	}
	if min(sum.StaleAccepted, sum.StaleRejected, sum.FalseRejects) < 300 {
		t.Errorf("the generator is unbalanced: %+v", sum)
	}
}

func randomRefusals(rng *rand.Rand) History {
	h := History{Final: map[Cell]string{orders: "", {Resource: "stock"}: ""},
		Entry: []Entry{"", EntryExclusive, EntryReentrant, EntryShared}[rng.IntN(4)],
		Care:  []Care{CareNever, CareLost, CareSteps}[rng.IntN(3)]}
	if rng.IntN(2) == 0 {
		h.Holdings = randomHoldings(rng)
	}
	for i := range 1 + rng.IntN(5) {
		g := randomGrant(rng, i+1)
		g.Crashed = 0
		h.Grants = append(h.Grants, g)
		o := g.op([]OpKind{Read, Write}[rng.IntN(2)], string(rune('a'+i)), g.Granted+Pos(rng.IntN(20)), "")
		if rng.IntN(2) == 0 {
			o = o.refused()
		}
		h.Ops = append(h.Ops, o)
	}
	return h
}

func bruteFencing(h History) Facts {
	var f Facts
	for _, o := range h.Ops {
		own := h.Grants[o.Grant-1]
		stale, overtaken, alone := false, false, own.Claim().Contains(o.Applied)
		for _, g := range h.Grants {
			if g.ID == own.ID || g.Resource != own.Resource {
				continue
			}
			again := h.Entry == EntryReentrant && g.Client == own.Client
			// An entry while the outer grant was neither released nor crashed is no
			// later grant.
			entry := again && (own.Released == 0 || g.Granted < own.Released) && (own.Crashed == 0 || g.Granted < own.Crashed)
			later := g.Granted > own.Granted || g.Granted == own.Granted && g.ID > own.ID
			stale = stale || later && g.Granted < o.Applied && !entry
			overtaken = overtaken || later && g.Granted < o.Applied && g.Client != own.Client
			alone = alone && (again || !g.Claim().Contains(o.Applied))
		}
		switch {
		case stale && o.Accepted && o.Kind == Write:
			f.StaleAccepted++
		case stale && !o.Accepted:
			f.StaleRejected++
		}
		if !o.Accepted && h.Entry != EntryShared && (alone && !overtaken || bruteHeld(h, own, o.Applied)) {
			f.FalseRejects++
		}
	}
	return f
}

// bruteHeld checks each position from the grant to p.
func bruteHeld(h History, g Grant, p Pos) bool {
	for _, s := range h.Holdings {
		held := s.Client == g.Client && s.Resource == g.Resource && g.Belief(h.Care).Contains(p)
		for q := g.Granted; q <= p; q++ {
			held = held && q >= s.From && (s.To == 0 || q < s.To)
		}
		if held {
			return true
		}
	}
	return false
}
