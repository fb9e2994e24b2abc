package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// The second opinion on every handwritten history of the data check.
func TestCorroborateData(t *testing.T) {
	for _, c := range append(rightData(), wrongData()...) {
		facts := mustJudge(t, c.h, nil).Facts
		if got := corroborate(t, c.h, facts); got.Agreement != Agrees {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The second opinion on grants of all kinds of lock: one holder at a time, or one
// client, with tokens and a queue or without.
func TestCorroborateLocks(t *testing.T) {
	for seed := range uint64(6_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		h := History{Entry: []Entry{"", EntryReentrant}[rng.IntN(2)]}
		if h.Entry == "" && rng.IntN(2) == 0 {
			h.Queue = QueueFair
		}
		for i := range 1 + rng.IntN(6) {
			g := randomGrant(rng, i+1)
			g.Invoked = max(1, g.Granted-Pos(rng.IntN(8)))
			if rng.IntN(3) > 0 {
				g.Enqueued = g.Invoked + Pos(rng.IntN(int(g.Granted-g.Invoked)+1))
			}
			if rng.IntN(2) == 0 {
				g.Token = uint64(g.Granted)
			}
			if g.Released > 0 && rng.IntN(2) == 0 && g.Crashed == 0 {
				g.ReleaseReturned = g.Released + Pos(rng.IntN(20))
			}
			h.Grants = append(h.Grants, g)
		}
		facts := mustJudge(t, h, nil).Facts
		if got := corroborate(t, h, facts); got.Agreement != Agrees {
			t.Fatalf("seed %d: %+v\n%+v", seed, got, h.Grants)
		}
	}
}

// Wrong facts must be contradicted, in either direction.
func TestCorroborateContradicts(t *testing.T) {
	overlap := story("", []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)})
	torn, whole := tornSections()[0].h, wholeSections()[0].h
	torn.Grants, whole.Grants = ordered(torn.Grants), ordered(whole.Grants)
	twins := story("", []Grant{held(1, "c0", 2, 5).token(1), held(2, "c1", 10, 15).token(1)})
	fair := story("", []Grant{held(1, "c0", 12, 15).asked(2).queued(4), held(2, "c1", 20, 25).asked(2).queued(5)})
	unfair := story("", []Grant{held(1, "c0", 12, 15).asked(2).queued(5), held(2, "c1", 20, 25).asked(2).queued(4)})
	fair.Queue, unfair.Queue = QueueFair, QueueFair
	half := unanswered(20)
	half.Final[savings] = "ghost"
	entered := story("", []Grant{held(1, "c0", 2, 30), held(2, "c0", 10, 20)})
	entered.Entry = EntryReentrant
	for _, c := range []struct {
		name  string
		h     History
		facts Facts
		says  string
	}{
		{"wrongly right", gcPause(accepted, "c0.2"), Facts{Data: DataRight}, `found no order for ["orders"]`},
		{"wrongly corrupted", gcPause(Op.refused, "c1.2"), Facts{Data: DataCorrupted}, "found an order for all"},
		{"wrongly right section", torn, Facts{Data: DataRight}, `found no order for ["the sections of orders"]`},
		{"wrongly torn", whole, Facts{Data: DataCorrupted}, "found an order for all"},
		{"wrongly growing", twins, Facts{Data: DataRight},
			`token regressions: 0, duplicates: 0, yet the search found no order for ["the counter of orders"]`},
		{"wrongly falling", story("", nil), Facts{Data: DataRight, TokenRegressions: 2},
			"token regressions: 2, duplicates: 0, yet the search found an order for all"},
		{"wrongly fair", unfair, Facts{Data: DataRight},
			`claim overlaps: 0, overtaken: 0, yet the search found no order for ["the queue of orders"]`},
		{"wrongly unfair", fair, Facts{Data: DataRight, Overtaken: 1}, "claim overlaps: 0, overtaken: 1, yet the search " +
			"found an order for all"},
		{"wrongly entered", entered, Facts{Data: DataRight, ClaimOverlaps: 1}, "claim overlaps: 1, yet the search found an " +
			"order for all"},
		// A contradiction outweighs skipped questions.
		{"half skipped", half, Facts{Data: DataRight}, `found no order for ["orders/x"]`},
		{"undecided and exclusive", overlap, Facts{Data: DataUndecided},
			`claim overlaps: 0, yet the search found no order for ["orders"]`},
		{"wrongly exclusive", overlap, Facts{Data: DataRight},
			`claim overlaps: 0, yet the search found no order for ["orders"]`},
		{"wrongly overlapping", story("", nil), Facts{Data: DataRight, ClaimOverlaps: 1},
			"claim overlaps: 1, yet the search found an order for all"},
	} {
		got := corroborate(t, c.h, c.facts)
		if got.Agreement != Contradicts || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: %+v, want contradicts and %q", c.name, got, c.says)
		}
	}
}

// An exceeded budget gives no opinion, and its name.
func TestCorroborateSkips(t *testing.T) {
	undecided := story("", nil)
	for _, c := range []struct {
		name  string
		h     History
		facts Facts
		says  string
	}{
		{"undecided", undecided, Facts{Data: DataUndecided}, "did not decide"},
		{"operations", inTurn(maxSearchOperations), Facts{Data: DataRight}, "orders has 2001 operations, more than 2000"},
		{"sections", manySections(maxSearchOperations), Facts{Data: DataRight}, "the sections of orders has 2001 " +
			"operations, more than 2000"},
		{"locks", manyGrants(maxSearchOperations), Facts{Data: DataRight}, "orders has 4000 operations, more than 2000"},
		{"tokens", story("", ordered(manyGrants(maxSearchOperations+1).Grants)), Facts{Data: DataRight},
			"the counter of orders has 2001 operations, more than 2000"},
		{"steps", unanswered(20), Facts{Data: DataRight}, "the search over orders took more than 200000 steps"},
	} {
		got := corroborate(t, c.h, c.facts)
		if got.Agreement != Skipped || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: %+v, want skipped and %q", c.name, got, c.says)
		}
	}
}

// A search within the budget is not skipped.
func TestCorroborateWithinBudget(t *testing.T) {
	for _, h := range []History{inTurn(maxSearchOperations - 1), unanswered(8), manySections(maxSearchOperations - 1),
		manyGrants(maxSearchOperations / 2)} {
		facts := mustJudge(t, h, nil).Facts
		if got := corroborate(t, h, facts); got.Agreement != Agrees {
			t.Errorf("%d operations: %+v", len(h.Ops), got)
		}
	}
}

// ordered puts the claims of grants one after another: only the data matters.
func ordered(grants []Grant) []Grant {
	all := slices.Clone(grants)
	for i := range all {
		all[i].Until, all[i].UntilSeen = all[i].Granted, 0
	}
	return all
}

// manySections is n whole sections under one grant, each of its own pair of
// registers.
func manySections(n int) History {
	g := held(1, "c0", 2, 0)
	h := transfers("", "", []Grant{g})
	for i := range n {
		x, y := fmt.Sprintf("x%d", i/2), fmt.Sprintf("y%d", i/2)
		w := []Op{g.write(fmt.Sprintf("v%d", i), Pos(10+10*i), "").in(x), g.write(fmt.Sprintf("w%d", i), Pos(15+10*i),
			"").in(y)}
		if i%2 == 1 {
			w[0].Saw, w[1].Saw = fmt.Sprintf("v%d", i-1), fmt.Sprintf("w%d", i-1)
		}
		h.Ops = append(h.Ops, w...)
		h.Final[w[0].cell()], h.Final[w[1].cell()] = w[0].ID, w[1].ID
	}
	return h
}

// manyGrants is n grants in turn, with tokens that grow.
func manyGrants(n int) History {
	h := story("", nil)
	for i := range n {
		h.Grants = append(h.Grants, held(i+1, "c0", Pos(10+10*i), Pos(15+10*i)).token(uint64(i+1)))
	}
	return h
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
// may have been first, and a final read that fits none of the orders.
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
