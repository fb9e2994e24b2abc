package cases_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// judged is the verdict of a lock in a scenario, in its first mode.
func judged(t *testing.T, l scenarios.Lock, sc *scenarios.Scenario) checker.Verdict {
	t.Helper()
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return o.Modes[0].Verdict
}

// A client waits for a lock that no client has until it gives up, for minutes. That it gives up excuses nothing.
func TestStuckUntilItGivesUp(t *testing.T) {
	for name, file := range map[string]string{"r30b-local-gate": "local-gate", "r36b-ttl-sixtyfold": "ttl-sixtyfold"} {
		l := find(t, name)
		if v := judged(t, l, load(t, file, l)); v.Label != checker.Stuck || v.Facts.Overdue == 0 {
			t.Errorf("%s: %s, overdue %d, want stuck: %v", name, v.Label, v.Facts.Overdue, v.Reasons)
		}
	}
}

// A lock that is kept for a while after its release on purpose is stuck, until it promises that.
func TestKeptOnPurpose(t *testing.T) {
	l := find(t, "r08-at-least-for")
	sc, err := scenarios.Parse("kept.yaml", []byte("name: kept\nlock: {kind: r08-at-least-for, ttl: 10s}\nworkload: "+
		"{rounds: 2, hold: 1s}\n"), l)
	if err != nil {
		t.Fatal(err)
	}
	if v := judged(t, l, sc); v.Label != checker.Stuck ||
		!strings.Contains(v.Reasons[0].Text, "FreeAfter, for promise.CauseOther") {
		t.Errorf("%s: %v", v.Label, v.Reasons)
	}
	l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTL}
	if v := judged(t, l, sc); v.Label != checker.Safe {
		t.Errorf("it promises that, and is %s: %v", v.Label, v.Reasons)
	}
}

// The key of a grant that no replica has confirmed keeps its own client out, also from a lock that promises nothing of
// when it is free.
func TestKeptOutByItself(t *testing.T) {
	l := find(t, "r25-not-synced")
	sc := load(t, "not-synced", l)
	if v := judged(t, l, sc); v.Label != checker.Stuck || v.Facts.SelfExcluded == 0 {
		t.Errorf("%s, kept out by its own key %d times: %v", v.Label, v.Facts.SelfExcluded, v.Reasons)
	}
	l.Promise.FreeWithin = lock.TermAnyTime
	for lives, want := range map[bool]int{false: 1, true: 0} {
		l.Promise.SelfExcludes = lives
		o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if v := outcome.Violations(o, l.Promise); len(v) != want || want > 0 && v[0].Label != checker.Stuck {
			t.Errorf("it lives with it %v: %v, want %d", lives, v, want)
		}
	}
}

// A search finds a key that outlives its lease in the first runs, under the promise that the documentation shows.
func TestKeyOutlivesItsLease(t *testing.T) {
	l := find(t, "r36b-ttl-sixtyfold")
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	const first, runs = 1, 40
	for seed := uint64(first); seed < first+runs; seed++ {
		_, broken, err := play.Try(l, search.Draw(spaces.Seeded(seed), space), seed)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(broken, func(v outcome.Violation) bool { return v.Label == checker.Stuck }) {
			t.Logf("found with seed %d", seed)
			return
		}
	}
	t.Errorf("not found in %d runs", runs)
}
