package play_test

import (
	"context"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// Runs of right locks in which a search once saw a violation.
func TestOnceAccused(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		seed uint64
		text string
	}{
		"its context ends while it connects, and it cleans up": {"single", 1000406, `
world: {redis: 1, clients: 1, latency: 20ms}
lock: {ttl: 10s, backoff: 5ms}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, checks_until: never, acquire_within: 50ms}
`},
		"other work of the process connects": {"watchdog", 3001284, `
world: {redis: 1, clients: 2, latency: 1ms..5ms}
lock: {ttl: 10s, backoff: 100ms}
workload: {rounds: 2, hold: 1ms, think: 0s, stagger: 0s, checks_until: never}
faults:
  - when: {client: c1, event: acquire, nth: 2}
    exhaust_pool: {process: c1, for: 7ms}
  - when: {client: c1, event: released, nth: 1}
    latency: {between: [c1], and: [r0], add: 1ms, for: 1ms}
`},
		"a request that was sent again came late, when the lock had been left": {"reentrant", 80003613, `
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s, backoff: 100ms, client: stock}
workload: {rounds: 1, hold: 5s, think: 0s, stagger: 0s, checks_until: never, nested: 1, extend: 1}
faults:
  - when: {client: c0, event: acquire, nth: 1}
    delay_message: {between: [c0], and: [r0], by: 6s, skip: 4}
`},
		"the stock client says what it is": {"fenced", 4, `
world: {redis: 1, clients: 1, latency: 1ms}
lock: {ttl: 10s, backoff: 1ms, client: stock}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, checks_until: never}
`},
		"a late request entered the lock again": {"reentrant-fenced", 77001040, `
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s, backoff: 100ms, client: stock, owner: round}
workload: {rounds: 1, hold: 9s, think: 0s, stagger: 0s, checks_until: never, tries: true}
faults:
  - when: {client: c1, event: acquire, nth: 1}
    delay_message: {between: [c1], and: [r0], by: 8s, skip: 23}
`},
	} {
		t.Run(name, func(t *testing.T) {
			l := testruns.Kind(t, c.kind)
			o := testruns.Play(t, testruns.Parse(t, "name: accused"+c.text), l,
				play.RunOptions{Seed: c.seed, Modes: []fence.Mode{fence.None}})
			if v := outcome.Violations(o, l.Promise); len(v) > 0 {
				t.Errorf("%v: %v", v, o.Modes[0].Verdict.Reasons)
			}
		})
	}
}

// A lock that waits until a replica has its key takes as long to be granted as the replica lags.
func TestWaitsForAReplica(t *testing.T) {
	waits := subject.Lock{Name: "waits", Traits: subject.Traits{Servers: subject.Redis(1), FollowsSpec: true,
		Promise: lock.LeasePromise()},
		New: func(e subject.Env) (lock.Locker, error) {
			client := redisclient.New(e, "r0")
			single, err := lock.NewSingle(client, lock.Options{TTL: e.Spec().TTL, Clock: e.Clock(), Entropy: e.Entropy("lock"),
				Jitter: e.Source("lock")})
			return altered{single, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := single.Acquire(ctx, resource)
				if err == nil {
					err = client.Wait(ctx, 1, 5*time.Second).Err()
				}
				return lease, err
			}}, err
		}}
	sc := testruns.Parse(t, `name: waits
world: {redis: 1, replicas: 1, lag: 200ms, clients: 1, latency: 1ms}
lock: {ttl: 10s, backoff: 1ms}
workload: {rounds: 1, hold: 1ms, stagger: 0s}
`)
	o := testruns.Play(t, sc, waits, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if m := o.Modes[0]; m.Verdict.Label != checker.Safe || len(m.History.Grants) != 1 {
		t.Errorf("%s, %d grants: %v", m.Verdict.Label, len(m.History.Grants), m.Verdict.Reasons)
	}
}
