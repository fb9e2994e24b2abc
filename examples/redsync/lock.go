package main

import (
	"context"
	"slices"
	"strings"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"locksim/lock"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
)

// underTest is redsync over three nodes, as it comes.
func underTest() scenarios.Lock {
	return scenarios.Lock{Name: "redsync", Servers: scenarios.Redis(3), Promise: promise(), New: func(e scenarios.Env) (lock.Locker, error) {
		var pools []pool.Pool
		for _, node := range []string{"r0", "r1", "r2"} {
			pools = append(pools, goredis.NewPool(simredis.Client(e, node)))
		}
		return locker{redsync.New(pools...)}, nil
	}}
}

// promise is what redsync can keep, in our words: it makes none of its own. It
// mints no fencing tokens, so under a pause the data of a store without a fence
// is lost; with the fence claim, which needs none, it is right.
func promise() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultStall},
		Data:      "claim",
	}
}

// locker hands out a redsync.Mutex for each grant.
type locker struct{ *redsync.Redsync }

func (l locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	m := l.NewMutex(resource, redsync.WithTries(1000)) // ctx bounds the wait
	return lease{m, ctx}, steady(m.LockContext(ctx))
}

type lease struct {
	*redsync.Mutex // its Until is the lease's
	ctx            context.Context
}

func (lease) Token() uint64              { return 0 }
func (lease) Lost() <-chan struct{}      { return nil } // redsync does not tell
func (l lease) Context() context.Context { return l.ctx }

func (l lease) Release(ctx context.Context) error {
	_, err := l.UnlockContext(ctx)
	return steady(err)
}

// steady puts the nodes of an error in order. redsync joins what they say in the
// order in which its goroutines end, which no seed decides: where all end at
// once, as under a context that has ended, two runs differ in the text. Check
// found that out.
func steady(err error) error {
	if err == nil {
		return nil
	}
	return inOrder{err}
}

type inOrder struct{ cause error }

func (e inOrder) Unwrap() error { return e.cause }

func (e inOrder) Error() string {
	lines := strings.Split(e.cause.Error(), "\n")
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "; ")
}
