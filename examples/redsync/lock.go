package main

import (
	"context"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim/redis/redisclient"
)

// underTest is unmodified redsync over three nodes.
func underTest() scenarios.Lock {
	return scenarios.Lock{Name: "redsync", Traits: scenarios.Traits{Servers: scenarios.Redis(3), Promise: promise()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			var pools []pool.Pool
			for _, node := range []string{"r0", "r1", "r2"} {
				pools = append(pools, goredis.NewPool(redisclient.New(e, node)))
			}
			return locker{redsync.New(pools...)}, nil
		}}
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
type locker struct{ *redsync.Redsync }

func (l locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	m := l.NewMutex(resource, redsync.WithTries(1000)) // ctx bounds the wait
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
