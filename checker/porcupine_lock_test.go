package checker

import "testing"

// mixedGrants is a right history of a lock with tokens and a queue that has
// each way to end a claim: release, loss, end of the validity, crash.
func mixedGrants() History {
	h := story("", []Grant{
		held(1, "c0", 10, 20).asked(2).queued(3).token(1),
		held(2, "c1", 22, 40).asked(2).queued(4).token(2).lost(30, 31),
		held(3, "c2", 32, 60).asked(2).queued(5).token(3).until(42, 43),
		held(4, "c3", 45, 0).asked(2).queued(6).token(4).crashed(50),
		held(5, "c4", 52, 58).asked(2).queued(7).token(5),
		held(6, "c0", 70, 0).asked(60).token(6),
	})
	h.Queue = QueueFair
	return h
}

// Each mutant breaks one promise of the lock. The exact check must find it, the
// search must agree, and it must contradict facts without it.
func TestLockMutants(t *testing.T) {
	right := Facts{Data: DataRight}
	if f := mustJudge(t, mixedGrants(), nil).Facts; f.ClaimOverlaps+f.TokenRegressions+f.TokenDuplicates+f.Overtaken > 0 {
		t.Fatalf("before any mutation: %+v", f)
	}
	want := Corroboration{Agrees, "searched locks: 1, counters: 2, queues: 1, registers: 1"}
	if got := corroborate(t, mixedGrants(), right); got != want {
		t.Fatalf("before any mutation: %+v, want %+v", got, want)
	}
	grant := func(i int, change func(*Grant)) func(*History) { return func(h *History) { change(&h.Grants[i]) } }
	overlaps := func(f Facts) int { return f.ClaimOverlaps }
	tokens := func(f Facts) int { return f.TokenRegressions + f.TokenDuplicates }
	queue := func(f Facts) int { return f.Overtaken }
	for _, m := range []struct {
		name   string
		of     func(Facts) int
		mutate func(*History)
	}{
		{"released too late", overlaps, grant(0, func(g *Grant) { g.Released, g.ReleaseReturned = 23, 24 })},
		{"never released", overlaps, grant(0, func(g *Grant) { g.Released, g.ReleaseReturned = 0, 0 })},
		{"lost too late", overlaps, grant(1, func(g *Grant) { g.Lost, g.LostSeen = 33, 34 })},
		{"loss not announced", overlaps, grant(1, func(g *Grant) { g.Lost, g.LostSeen = 0, 0 })},
		{"valid for too long", overlaps, grant(2, func(g *Grant) { g.Until, g.UntilSeen = 46, 47 })},
		{"valid forever", overlaps, grant(2, func(g *Grant) { g.Until, g.UntilSeen = 0, 0 })},
		{"crashed too late", overlaps, grant(3, func(g *Grant) { g.Crashed = 53 })},
		{"did not crash", overlaps, grant(3, func(g *Grant) { g.Crashed = 0 })},
		{"granted too early", overlaps, grant(4, func(g *Grant) { g.Granted = 49 })},
		{"granted to two", overlaps, func(h *History) {
			twin := held(7, "c9", 53, 57).asked(2).queued(8)
			h.Grants = append(h.Grants, twin)
		}},
		{"first and last swapped", overlaps, func(h *History) { h.Grants[5].Granted, h.Grants[5].Invoked = 11, 9 }},
		{"never released", overlaps, func(h *History) {
			h.Grants[0].Released, h.Grants[0].ReleaseReturned = 0, 0
			h.Grants[5].Client = "c9"
		}},
		{"token went back", tokens, grant(5, func(g *Grant) { g.Token = 3 })},
		{"token went back to the first", tokens, grant(5, func(g *Grant) { g.Token = 1 })},
		{"token given twice", tokens, grant(5, func(g *Grant) { g.Token = 5 })},
		{"counter lost", tokens, func(h *History) { h.Grants[4].Token, h.Grants[5].Token = 7, 6 }},
		{"counter stuck", tokens, func(h *History) {
			for i := range h.Grants {
				h.Grants[i].Token = 1
			}
		}},
		{"counter counts down", tokens, func(h *History) {
			for i := range h.Grants {
				h.Grants[i].Token = uint64(9 - i)
			}
		}},
		{"first grant ahead", tokens, grant(0, func(g *Grant) { g.Token = 100 })},
		{"one grant ahead", tokens, grant(3, func(g *Grant) { g.Token = 100 })},
		{"joined last, came first", queue, grant(0, func(g *Grant) { g.Enqueued = 8 })},
		{"joined first, came late", queue, grant(4, func(g *Grant) { g.Enqueued = 2 })},
		{"newcomer", queue, grant(1, func(g *Grant) { g.Invoked, g.Enqueued = 21, 0 })},
		{"waited without a grant", queue, func(h *History) { h.Attempts = []Attempt{waited("c9", 2, 80, 81)} }},
	} {
		h := mixedGrants()
		m.mutate(&h)
		f := mustJudge(t, h, nil).Facts
		if m.of(f) == 0 {
			t.Errorf("%s: not seen: %+v", m.name, f)
		}
		if got := corroborate(t, h, f); got.Agreement != Agrees {
			t.Errorf("%s: %+v", m.name, got)
		}
		if got := corroborate(t, h, right); got.Agreement != Contradicts {
			t.Errorf("%s: corroborate agrees with facts without it: %+v", m.name, got)
		}
	}
}

// A reentrant lock admits its holder, and no other client until the last entry
// has ended.
func TestReentrantMutants(t *testing.T) {
	right := func() History {
		h := story("", []Grant{
			held(1, "c0", 10, 40), held(2, "c0", 20, 30), held(3, "c0", 22, 0).crashed(50),
			held(4, "c1", 52, 60), held(5, "c1", 54, 70), held(6, "c2", 72, 80),
		})
		h.Entry = EntryReentrant
		h.Grants[0].Crashed, h.Grants[1].Crashed = 50, 50
		return h
	}
	if f := mustJudge(t, right(), nil).Facts; f.ClaimOverlaps > 0 {
		t.Fatalf("before any mutation: %+v", f)
	}
	for _, m := range []struct {
		name   string
		mutate func(*History)
	}{
		{"exclusive", func(h *History) { h.Entry = EntryExclusive }},
		{"no entry named", func(h *History) { h.Entry = "" }},
		{"inner went to another", func(h *History) { h.Grants[1].Client = "c3" }},
		{"outer went to another", func(h *History) { h.Grants[3].Client = "c3" }},
		{"let in before the last entry ended", func(h *History) { h.Grants[5].Granted, h.Grants[5].Invoked = 65, 60 }},
		{"let in before the crash", func(h *History) { h.Grants[3].Granted, h.Grants[3].Invoked = 45, 44 }},
		{"inner never ended", func(h *History) { h.Grants[4].Released, h.Grants[4].ReleaseReturned = 0, 0 }},
		{"came back while another held", func(h *History) { h.Grants = append(h.Grants, held(7, "c0", 56, 57)) }},
		{"came back after an entry that was too many", func(h *History) {
			h.Grants[0].Crashed, h.Grants[0].Released,
				h.Grants[0].ReleaseReturned = 0, 53, 54
		}},
	} {
		h := right()
		m.mutate(&h)
		f := mustJudge(t, h, nil).Facts
		if f.ClaimOverlaps == 0 {
			t.Errorf("%s: not seen: %+v", m.name, f)
		}
		if got := corroborate(t, h, f); got.Agreement != Agrees {
			t.Errorf("%s: %+v", m.name, got)
		}
		if got := corroborate(t, h, Facts{Data: DataRight}); got.Agreement != Contradicts {
			t.Errorf("%s: corroborate agrees with facts without it: %+v", m.name, got)
		}
	}
}
