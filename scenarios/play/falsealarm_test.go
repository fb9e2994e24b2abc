package play_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

// Schedules that were once called violations of a lock's promise, although the lock was
// right. Long explorations found them.
func TestFalseAlarms(t *testing.T) {
	for _, c := range []struct {
		name, kind, schedule string
		seed                 uint64
	}{
		// The inner entry renews the key, and the outer lease ends: the key stays until the release.
		{"renewed by an inner entry", "reentrant", `name: renewed
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 800ms, think: 0s, stagger: 0s, checks_until: lost, nested: 1}
faults:
  - when: {client: c0, event: granted, nth: 1}
    stall: {node: s0, for: 9.6s}
`, 1945},
		// The outer lease ends, and an inner entry renews the key after that: it stays until the release of the outer one.
		{"renewed by an inner entry after the end", "reentrant", `name: renewed-later
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 7.6s, backoff: 100ms}
workload: {rounds: 1, hold: 3s, think: 0s, stagger: 0s, checks_until: steps, nested: 3}
faults:
  - when: {client: c0, event: acquire, nth: 1}
    latency: {between: [c0], and: [s0], add: 2.1s, for: 20s, direction: forward}
`, 12121},
		// The entry of the crash is left behind, and the owner's next entry renews it.
		{"an entry left by a crash", "reentrant", `name: left-behind
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 5ms, think: 0s, stagger: 0s, checks_until: lost, nested: 1}
faults:
  - when: {client: c0, event: granted, nth: 1}
    crash: {process: c0}
  - at: 308ms
    restart: {process: c0}
`, 2178},
		// A stock client sends a lost request again after a pause, also when nothing is lost any more.
		{"a pause before a request is sent again", "redlock", `name: paused
world: {redis: 5, clients: 1, latency: 1ms}
lock: {ttl: 10s, backoff: 100ms, client: stock}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, checks_until: never, request: 300ms}
faults:
  - when: {client: c0, event: acquire, nth: 1}
    lose_reply: {between: [c0], and: [r0, r1, r2], count: 3}
`, 5013284},
		// A release fails, and later entries renew what it left. That its client crashes much later changes nothing.
		{"a failed release, and a later crash", "reentrant", `name: later-crash
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s, backoff: 100ms}
workload: {rounds: 3, hold: 300ms, think: 0s, stagger: 0s, checks_until: never, nested: 1}
faults:
  - when: {client: c0, event: write, nth: 1}
    reset: {between: [c0], and: [r0]}
  - when: {client: c1, event: granted, nth: 2}
    crash: {process: c0}
`, 21104},
		// A late request of c0's earlier Acquire joins the queue too, behind c1. Both places of c0 end when it is granted
		// the lock.
		{"a late place beside the own one", "fair", `name: late-place
world: {redis: 1, clients: 4, latency: 1ms}
lock: {ttl: 10s, backoff: 2s, wait: notify}
workload: {rounds: 3, hold: 15s, think: 5s, stagger: 700ms, checks_until: never}
faults:
  - when: {client: c0, event: released, nth: 1}
    delay_message: {between: [c0], and: [r0], by: 11s}
`, 42844},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testruns.Play(t, testruns.Parse(t, c.schedule), testruns.Kind(t, c.kind),
				play.RunOptions{Seed: c.seed, Modes: []fence.Mode{fence.None, fence.Claim}})
			if !o.Modes[0].FaultsFelt[0] {
				t.Fatal("the fault was not felt")
			}
			promised, _ := lock.PromiseOf(c.kind)
			for _, v := range outcome.Violations(o, promised) {
				t.Errorf("%v: %v", v, o.Modes[0].Verdict.Reasons)
			}
		})
	}
}
