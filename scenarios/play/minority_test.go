package play_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// overThree is a Redlock over three nodes that gives up if more of them than it allows do not answer a PING.
func overThree(allowed int) subject.Lock {
	return subject.Lock{Name: fmt.Sprintf("lets-%d-fail", allowed), Traits: subject.Traits{Servers: subject.Redis(3),
		Taken:       []error{lock.ErrTaken},
		FollowsSpec: true},
		New: func(e subject.Env) (lock.Locker, error) {
			var nodes []lock.Redis
			var clients []*goredis.Client
			for _, server := range []string{"r0", "r1", "r2"} {
				clients = append(clients, redisclient.New(e, server))
				nodes = append(nodes, clients[len(clients)-1])
			}
			redlock, err := lock.NewRedlock(nodes, lock.RedlockOptions{Options: lock.Options{
				TTL: e.Spec().TTL, Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock")}})
			return altered{redlock, func(ctx context.Context, resource string) (lock.Lease, error) {
				failed := 0
				for _, c := range clients {
					ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
					if c.Ping(ctx).Err() != nil {
						failed++
					}
					cancel()
				}
				if failed > allowed {
					return nil, errors.New("a node does not answer")
				}
				return redlock.Acquire(ctx, resource)
			}}, err
		}}
}

// A lock over three nodes that fails since one of them is out of reach breaks its promise, as long as nothing else has
// gone wrong. Package evidence tests what concerns a minority.
func TestOneNodeOutOfReachIsNoExcuse(t *testing.T) {
	const cut, pause = "{at: 0s, partition: {between: [c0], and: [r1]}}", "{at: 0s, pause: {process: c0, for: 1ms}}"
	for _, c := range []struct {
		faults string
		counts bool
	}{
		{cut, true},
		{"{at: 0s, crash: {process: r1}}", true},
		{"{at: 0s, partition: {between: [c0], and: [r1], for: 1s}}, {at: 100ms, crash: {process: r2}}", false},
		{cut + ", " + pause, false},
	} {
		sc := testruns.Parse(t, "name: out-of-reach\nworld: {redis: 3, clients: 1, latency: 1ms}\nlock: {ttl: 30s}\n"+
			"workload: {rounds: 1, hold: 100ms, stagger: 50ms}\nfaults: ["+c.faults+"]\n")
		v := testruns.Play(t, sc, overThree(0), play.RunOptions{Seed: 1}).Modes[0].Verdict
		if counts := v.Facts.FailedCalls > 0; counts != c.counts {
			t.Errorf("%s: %d calls failed, %v", c.faults, v.Facts.FailedCalls, v.Reasons)
		} else if counts && !slices.ContainsFunc(v.Reasons, func(r checker.Reason) bool {
			return strings.Contains(r.Text, "although faults had struck only r1, a minority of the 3 nodes: a node does not "+
				"answer.")
		}) {
			t.Errorf("%s: %v", c.faults, v.Reasons)
		}
		if v := testruns.Play(t, sc, overThree(1), play.RunOptions{Seed: 1}).Modes[0].Verdict; v.Facts.FailedCalls > 0 {
			t.Errorf("%s, of a lock that needs two nodes: %v", c.faults, v.Reasons)
		}
	}
}
