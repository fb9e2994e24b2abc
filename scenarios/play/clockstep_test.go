package play_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// deleteOwn deletes a key that has an owner's id.
var deleteOwn = redis.NewScript(`return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0`)

// byID is a lock of which each Acquire has an id. A key that has it already counts as granted: an earlier request may
// have had no answer.
func byID(name string, id func(e subject.Env) string) subject.Lock {
	return subject.Lock{
		Name: name, Traits: subject.Traits{FollowsSpec: true,
			Keys:    func(resource string) []string { return []string{resource} },
			Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}, FreeWithin: lock.TermTTL}},
		New: func(e subject.Env) (lock.Locker, error) {
			node := subject.RedisClient(e, subject.Primary)
			return scenarios.LockerFunc(func(ctx context.Context, resource string) (lock.Lease, error) {
				mine, until := id(e), time.Time{}
				err := scenarios.Retry(ctx, e.Clock(), e.Spec().Backoff.Max, func(ctx context.Context) (bool, error) {
					until = e.Clock().Now().Add(e.Spec().TTL)
					if ok, err := node.SetNX(ctx, resource, mine, e.Spec().TTL).Result(); ok || err != nil {
						return ok, scenarios.Unanswered(err)
					}
					has, err := node.Get(ctx, resource).Result()
					if errors.Is(err, redis.Nil) {
						return false, nil
					}
					return has == mine, err
				})
				if err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{
					Until: func() time.Time { return until },
					Unlock: func(ctx context.Context) error {
						n, err := deleteOwn.Run(ctx, node, []string{resource}, mine).Int()
						if n == 0 && err == nil {
							return lock.ErrNotHeld
						}
						return scenarios.Unanswered(err)
					},
				}), nil
			}), nil
		},
	}
}

// Two clients that ask within one step of their clocks have one id, where it is made of the time, and both get the
// lock. Where clocks show each nanosecond no run has that, nor has any run of a lock with ids of random numbers.
func TestClockStep(t *testing.T) {
	byTime := byID("by-time", func(e subject.Env) string { return strconv.FormatInt(e.WallClock().Now().UnixNano(), 36) })
	random := byID("by-chance", func(e subject.Env) string {
		return e.Name() + strconv.FormatInt(e.Clock().Now().UnixNano(),
			36)
	})
	for _, c := range []struct {
		step string
		lock subject.Lock
		want bool
	}{
		{"0s", byTime, false}, {"1us", byTime, true}, {"1ms", byTime, true}, {"1ms", random, false},
	} {
		t.Run(c.lock.Name+" "+c.step, func(t *testing.T) {
			sc := testruns.Parse(t, "name: steps\nworld: {latency: 1ms, clock_step: "+c.step+
				"}\nworkload: {hold: 2s, think: 0s}\n")
			m := testruns.Play(t, sc, c.lock, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
			if got := m.Verdict.Facts.ClaimOverlaps > 0; got != c.want {
				t.Errorf("claims overlap: %v, want %v: %v", got, c.want, m.Verdict.Reasons)
			}
		})
	}
}

// A right lock keeps its promise under clocks that are read in steps: its leases end as it says, and it tells in time.
func TestRightByClockSteps(t *testing.T) {
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			l := testruns.Kind(t, kind)
			for _, workload := range []string{"hold: 1s", "hold: 8s, checks_until: lost", "hold: 8s, checks_until: steps",
				"hold: 800ms, extend: 2"} {
				sc := testruns.Parse(t, `name: steps
world: {clients: 3, latency: 1ms..2ms, clock_step: 1ms}
lock: {ttl: 1.333s, backoff: 10ms..50ms}
workload: {rounds: 2, think: 100ms, `+workload+`}
faults:
  - when: {client: c0, event: read}
    pause: {process: c0, for: 2s}
`)
				for seed := range uint64(testruns.Soak(t, 20, 0.1)) {
					o := testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}})
					if v := outcome.Violations(o, l.Promise); len(v) > 0 {
						t.Errorf("%s, seed %d: %v: %v", workload, seed, v, o.Modes[0].Verdict.Reasons)
					}
				}
			}
		})
	}
}
