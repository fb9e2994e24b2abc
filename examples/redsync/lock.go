package main

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/sim/redis/redisclient"
)

// underTest is unmodified redsync over three nodes.
func underTest() scenarios.Lock {
	return scenarios.Lock{Name: "redsync", Traits: scenarios.Traits{Servers: scenarios.Redis(3), Promise: promise(),
		Settings: []scenarios.Setting{expiry, tries, retryDelay}},
		New: func(e scenarios.Env) (lock.Locker, error) {
			var pools []pool.Pool
			for _, node := range []string{"r0", "r1", "r2"} {
				pools = append(pools, goredis.NewPool(redisclient.New(e, node)))
			}
			return locker{redsync.New(pools...), options(e.Spec())}, nil
		}}
}

// What users of redsync choose. Without them it has its defaults, but for the tries, of which it has 32: here the
// context of an Acquire bounds the wait.
var (
	expiry = scenarios.Setting{Name: "expiry", Elsewhere: "WithExpiry", Doc: "how long a grant lasts",
		Default: scenarios.Always(8 * time.Second), Least: 10 * time.Millisecond, Most: time.Hour}
	tries = scenarios.Setting{Name: "tries", Elsewhere: "WithTries", Doc: "how often an Acquire asks before it gives up",
		Default: scenarios.Always(1000), Least: 1, Most: 1_000_000, Counts: true}
	retryDelay = scenarios.Setting{Name: "retry_delay", Elsewhere: "WithRetryDelay",
		Doc:     "the pause between two tries; left out, 50 to 250 ms are drawn",
		Default: scenarios.Always(150 * time.Millisecond), Least: time.Millisecond, Most: time.Minute}
)

// options are those of a scenario.
func options(spec file.LockSpec) []redsync.Option {
	out := []redsync.Option{redsync.WithExpiry(expiry.In(spec)), redsync.WithTries(int(tries.In(spec)))}
	if _, chosen := spec.Setting(retryDelay.Name); chosen {
		out = append(out, redsync.WithRetryDelay(retryDelay.In(spec)))
	}
	return out
}

// promise is what redsync can keep; its documentation promises nothing. It has
// no fencing tokens, so that a pause corrupts the data of a store without a
// fence; with the fence claim, which needs no tokens, they are correct. It has
// no fault that holds a message back: all tries of an Acquire have the same
// owner id, so a late clean-up of one try deletes the keys of a later one
// (F28, TestLateCleanUp).
func promise() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultReset},
		Data:      "claim",
	}
}

// locker creates a redsync.Mutex for each grant.
type locker struct {
	*redsync.Redsync
	options []redsync.Option
}

func (l locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	m := l.NewMutex(resource, l.options...)
	return lease{m, ctx}, scenarios.Sorted(m.LockContext(ctx))
}

type lease struct {
	*redsync.Mutex // its Until is the lease's
	ctx            context.Context
}

func (lease) Token() uint64              { return 0 }
func (lease) Lost() <-chan struct{}      { return nil } // redsync gives no notice
func (l lease) Context() context.Context { return l.ctx }

func (l lease) Release(ctx context.Context) error {
	_, err := l.UnlockContext(ctx)
	return scenarios.Sorted(err)
}
