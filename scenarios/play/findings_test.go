package play_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

// Each scenario here is the minimal form of a failure that random runs found.

// A client that is paused at the moment of its grant has a claim that ends with its
// validity, not when it resumes.
func TestPauseAtTheGrant(t *testing.T) {
	sc := testruns.Parse(t, `
name: pause-at-the-grant
lock: {ttl: 10s}
workload: {stagger: 1s}
faults:
  - when: {client: c0, event: granted, nth: 1}
    pause: {process: c0, for: 15s}
`)
	for _, kind := range []string{"single", "watchdog", "redlock"} {
		m := testruns.Play(t, sc, testruns.Kind(t, kind), play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		if f := m.Verdict.Facts; f.ClaimOverlaps != 0 || f.BeliefOverlaps != 1 || f.Grants != 2 {
			t.Errorf("%s: %+v, want two beliefs that overlap, and no claims", kind, f)
		}
	}
}

// An answer that reaches a client which crashes in the same moment counts as not
// received: the outcome is unknown.
func TestCrashAtTheAnswer(t *testing.T) {
	sc := testruns.Parse(t, `
name: crash-at-the-answer
lock: {ttl: 10s}
workload: {stagger: 1s}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 15s}
  - when: {client: c0, event: written, nth: 1}
    crash: {process: c0}
`)
	for _, mode := range []fence.Mode{fence.None, fence.Seal} {
		m := testruns.Play(t, sc, testruns.Kind(t, "fenced"), play.RunOptions{Seed: 1, Modes: []fence.Mode{mode}}).Modes[0]
		var last checker.Op
		for _, op := range m.History.Ops {
			if op.Client == "c0" && op.Kind == checker.Write {
				last = op
			}
		}
		if last.Outcome != checker.OutcomeUnknown || last.Applied == 0 || last.Accepted != (mode == fence.None) {
			t.Errorf("mode %s: the write of c0 is %+v, want one of unknown outcome that the store decided on", mode, last)
		}
	}
}

// Two toxics that end at the same time divide the bytes between them in the same
// way in each run. Under the race detector's scheduler a race between them would
// show.
func TestToxicsThatEndTogether(t *testing.T) {
	sc := testruns.Parse(t, `
name: toxics-that-end-together
world: {clients: 1}
lock: {kind: watchdog-fenced, ttl: 5s, backoff: 250ms..1s}
workload: {hold: 1250ms, think: 500ms}
faults:
  - at: 0s
    pause: {process: c0, for: 5500ms}
  - at: 0s
    delay_message: {between: [c0], by: 10m}
  - at: 0s
    slice: {between: [c0], size: 1, delay: 5ms}
`)
	for range testruns.Soak(t, 500, 0.1) {
		testruns.Play(t, sc, testruns.Kind(t, sc.Lock.Kind), play.RunOptions{Seed: 62, Modes: []fence.Mode{fence.None},
			Repeat: outcome.Twice})
	}
}

// A client that is paused while it closes a subscription holds a mutex of go-redis,
// which its reader may take first when both go on.
func TestPauseDuringTheEndOfASubscription(t *testing.T) {
	sc := testruns.Parse(t, `
name: pause-during-the-end-of-a-subscription
world: {redis: 1, clients: 2, latency: 0s..2ms}
lock: {kind: reentrant, ttl: 4.3s, backoff: 86ms, wait: notify}
workload: {rounds: 3, hold: 1.075s, think: 2.15s, stagger: 430ms, checks_until: lost}
faults:
  - at: 1.29s
    pause: {process: c1, for: 4.3s}
  - at: 3.225s
    exhaust_pool: {process: c0, for: 12.9s}
  - at: 7.74s
    pause: {process: c0, for: 12.9s}
`)
	testruns.Play(t, sc, testruns.Kind(t, sc.Lock.Kind),
		play.RunOptions{Seed: 17179869972, Modes: []fence.Mode{fence.None}})
}

// An owner that cannot release and enters again has the same token. A late write of
// its earlier section then passes the fence, and overwrites what it has written
// since. No fence that compares tokens can distinguish the two sections: an owner
// whose release was not answered needs another name.
func TestSameTokenAfterALostRelease(t *testing.T) {
	sc := testruns.Parse(t, `
name: same-token-after-a-lost-release
lock: {kind: reentrant-fenced, ttl: 10s}
workload: {rounds: 2, hold: 2s, think: 1s, stagger: 20s, timeout: 1s, nested: 1}
faults:
  - when: {client: c0, event: granted, nth: 1}
    after: 1s
    delay_message: {between: [c0], by: 9s}
`)
	for mode, want := range map[fence.Mode]checker.Data{fence.Seal: checker.DataCorrupted, fence.Strict: checker.DataRight,
		fence.Claim: checker.DataRight} {
		m := testruns.Play(t, sc, testruns.Kind(t, sc.Lock.Kind),
			play.RunOptions{Seed: 1, Modes: []fence.Mode{mode}}).Modes[0]
		if m.Verdict.Facts.Data != want {
			t.Errorf("mode %s: the data is %s, want %s", mode, m.Verdict.Facts.Data, want)
		}
	}
}
