package play_test

import (
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// The story of a stuck lock marks the step after which no other client gets it, and
// ends with the probe, which asks for it in vain. If the probe gets it, only the
// step of the key that was left behind is marked.
func TestStoryOfAStuckLock(t *testing.T) {
	for _, tt := range []struct{ scenario, lock, decisive, last string }{
		{"dead-worker", "watchdog", "c0 LOSES ITS WORKER — nobody else gets the lock any more", "probe has still not got it"},
		{"setnx-then-expire", "broken/setnx-then-expire", "c1 passes locked — nobody else gets the lock any more",
			"probe has still not got it"},
		{"request-context", "broken/release-with-request-context", "c0 fails to release: outcome unknown: context canceled",
			"c1 gives up: acquire order: gave up: context canceled"},
		{"dead-worker", "single", "", "c1 has released"},
	} {
		sc, _ := testruns.Load(t, tt.scenario)
		l, err := redislocks.Find(tt.lock, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		var decisive []string
		for _, line := range m.Story {
			if line.Fatal {
				decisive = append(decisive, line.Actor+" "+line.Text)
			}
		}
		last := m.Story[len(m.Story)-1]
		if got := strings.Join(decisive, "; "); got != tt.decisive || last.Actor+" "+last.Text != tt.last {
			t.Errorf("%s with %s: the decisive step is %q, the last is %q", tt.scenario, tt.lock, got, last.Actor+" "+last.Text)
		}
		if barred := strings.HasPrefix(tt.last, "probe"); m.Barred != barred {
			t.Errorf("%s with %s: barred %v, want %v", tt.scenario, tt.lock, m.Barred, barred)
		}
	}
}
