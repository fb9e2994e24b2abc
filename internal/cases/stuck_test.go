package cases_test

import (
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
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
	sc, err := scenarios.Parse("kept.yaml", []byte("name: kept\nlock: {kind: r08-at-least-for, ttl: 10s}\nworkload: {rounds: 2, hold: 1s}\n"), l)
	if err != nil {
		t.Fatal(err)
	}
	if v := judged(t, l, sc); v.Label != checker.Stuck || !strings.Contains(v.Reasons[0].Text, "FreeAfter, for promise.CauseOther") {
		t.Errorf("%s: %v", v.Label, v.Reasons)
	}
	l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTL}
	if v := judged(t, l, sc); v.Label != checker.Safe {
		t.Errorf("it promises that, and is %s: %v", v.Label, v.Reasons)
	}
}
