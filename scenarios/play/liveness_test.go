package play_test

import (
	"fmt"
	"testing"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// A claim lasts as long as renewals move its end: a holder that works for
// longer than the TTL has one claim until it releases.
func TestRenewalsMoveTheClaim(t *testing.T) {
	sc := testruns.Parse(t, `
name: long-hold
lock: {ttl: 10s}
workload: {rounds: 1, hold: 35s, stagger: 1s}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "watchdog"), play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	if m.Verdict.Label != checker.Safe || len(m.History.Grants) != 2 {
		t.Fatalf("%s with %d grants, want safe with 2", m.Verdict.Label, len(m.History.Grants))
	}
	for _, g := range m.History.Grants {
		if claim := g.Claim(); claim.End != g.Released {
			t.Errorf("the claim of %s ended at step %d by %q, want its release at step %d", g.Client, claim.End, claim.Ended, g.Released)
		}
	}
}

// A client that waits for a lock which no client can get any more gives up in the
// end, and the verdict is stuck: not an error of the harness.
func TestStuckIsAVerdict(t *testing.T) {
	crash := "name: crash\nlock: {ttl: 5s}\nworkload: {rounds: 2, stagger: 1s}\nfaults:\n" +
		"  - when: {client: c0, event: %s, nth: 1}\n    crash: {process: c0}\n"
	for _, c := range []struct {
		lock, event string
		want        checker.Label
	}{
		{"broken/setnx-then-expire", "locked", checker.Stuck}, // SETNX is done, EXPIRE is not
		{"single", faults.EventGranted, checker.Safe},
	} {
		sc := testruns.Parse(t, fmt.Sprintf(crash, c.event))
		m := testruns.Play(t, sc, testruns.Kind(t, c.lock), play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		if m.Verdict.Label != c.want || !m.FaultsFired[0] {
			t.Errorf("%s: %s, fault struck %v, want %s: %v", c.lock, m.Verdict.Label, m.FaultsFired[0], c.want, m.Verdict.Reasons)
		}
	}
}
