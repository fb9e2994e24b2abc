package checker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func corroborate(t *testing.T, h History, f Facts) Corroboration {
	t.Helper()
	c, err := Corroborate(h, f)
	if err != nil {
		t.Fatalf("corroborate: %v", err)
	}
	return c
}

// The second opinion on every hand-made history of the data check.
func TestCorroborateData(t *testing.T) {
	for _, c := range append(rightData(), wrongData()...) {
		facts := mustJudge(t, c.h, nil).Facts
		if got := corroborate(t, c.h, facts); got.Agreement != Agrees {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The second opinion on overlaps: a lock with one holder at a time.
func TestCorroborateOverlaps(t *testing.T) {
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		h := History{Liveness: LivenessOK}
		for i := range 1 + rng.IntN(6) {
			h.Grants = append(h.Grants, randomGrant(rng, i+1))
		}
		facts := mustJudge(t, h, nil).Facts
		if got := corroborate(t, h, facts); got.Agreement != Agrees {
			t.Fatalf("seed %d: %+v\n%+v", seed, got, h.Grants)
		}
	}
}

// Facts that are wrong must be contradicted, whichever way they are wrong.
func TestCorroborateContradicts(t *testing.T) {
	overlap := story("", []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)})
	for _, c := range []struct {
		name  string
		h     History
		facts Facts
		says  string
	}{
		{"wrongly right", gcPause(accepted, "c0.2"), Facts{Data: DataRight}, `found no order for ["orders"]`},
		{"wrongly corrupted", gcPause(Op.refused, "c1.2"), Facts{Data: DataCorrupted}, "found an order for all"},
		{"wrongly exclusive", overlap, Facts{Data: DataRight}, `claim overlaps: 0, yet the search found no order for ["orders"]`},
		{"wrongly overlapping", story("", nil), Facts{Data: DataRight, ClaimOverlaps: 1}, "claim overlaps: 1, yet the search found an order for all"},
	} {
		got := corroborate(t, c.h, c.facts)
		if got.Agreement != Contradicts || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: %+v, want contradicts and %q", c.name, got, c.says)
		}
	}
}

// Each budget that is too small gives no opinion, and says which it was.
func TestCorroborateSkips(t *testing.T) {
	undecided := story("", nil)
	for _, c := range []struct {
		name  string
		h     History
		facts Facts
		says  string
	}{
		{"undecided", undecided, Facts{Data: DataUndecided}, "did not decide"},
		{"operations", inTurn(MaxSearchOperations), Facts{Data: DataRight}, "orders has 2001 operations, more than 2000"},
		{"steps", unanswered(20), Facts{Data: DataRight}, "the search over orders took more than 200000 steps"},
	} {
		got := corroborate(t, c.h, c.facts)
		if got.Agreement != Skipped || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: %+v, want skipped and %q", c.name, got, c.says)
		}
	}
}

// What just fits is searched.
func TestCorroborateWithinBudget(t *testing.T) {
	for _, h := range []History{inTurn(MaxSearchOperations - 1), unanswered(8)} {
		facts := mustJudge(t, h, nil).Facts
		if got := corroborate(t, h, facts); got.Agreement != Agrees {
			t.Errorf("%d operations: %+v", len(h.Ops), got)
		}
	}
}

// inTurn is n writes, each on the one before, under one grant.
func inTurn(n int) History {
	g := held(1, "c0", 2, 0)
	h, saw := story("", []Grant{g}), ""
	for i := range n {
		w := g.write(fmt.Sprintf("w%d", i), Pos(10+10*i), saw)
		h.Ops, saw = append(h.Ops, w), w.ID
	}
	h.Final[orders] = saw
	return h
}

// unanswered is n writes of unknown outcome, all pending at once, of which any
// may have come first, and in the end a read that fits none of the orders.
func unanswered(n int) History {
	g := held(1, "c0", 2, 0)
	h := story("final", []Grant{g})
	for i := range n {
		h.Ops = append(h.Ops, g.write(fmt.Sprintf("w%d", i), Pos(10+i), "").unanswered(0))
	}
	h.Ops = append(h.Ops, g.write("final", 200, fmt.Sprintf("w%d", n-1)))
	h.Ops = append(h.Ops, g.read("past", 300, "w0"))
	return h
}
