package play_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// The probe starts when no message is under way any more, also after a reply was
// lost on another connection of the same link: found by exploration, with seed
// 38421. The late request has arrived by then, and the probe waits until its key
// expires.
func TestProbeAwaitsLateRequest(t *testing.T) {
	sc := testruns.Parse(t, `name: late-request
world: {redis: 1, clients: 1, latency: 1ms}
lock: {kind: single, ttl: 10s, backoff: 100ms}
workload: {rounds: 2, hold: 0s, think: 0s, stagger: 0s}
faults:
  - when: {client: c0, event: released, nth: 1}
    delay_message: {between: [c0], and: [r0], by: 6s}
  - when: {client: c0, event: released, nth: 1}
    lose_reply: {between: [c0], and: [r0]}
`)
	o := testruns.Play(t, sc, testruns.Kind(t, "single"), play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if facts := o.Modes[0].Verdict.Facts; facts.Liveness != checker.LivenessOK {
		t.Errorf("%s: %v", facts.Liveness, o.Modes[0].Verdict.Reasons)
	}
}
