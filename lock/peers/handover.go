package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"

	"locksim/lock"
)

// How long the waiter has waited when the lock is released: longer than the longest delay between two tries of any
// contender, and spread over one, so that the release is at a random point of a poller's delay.
const (
	waitMin    = 300 * time.Millisecond
	waitSpread = 200 * time.Millisecond
)

// acquirer takes a lock and returns its release.
type acquirer func(ctx context.Context) (release func(context.Context) error, err error)

// handOver measures the time from the call of a release to the return of the Acquire that waits for it.
func (r *rig) handOver(o options) (contest, error) {
	notify, err := lock.NewSingle(r.clients[0], lock.Options{TTL: ttl, Waiting: lock.WaitNotify})
	if err != nil {
		return contest{}, err
	}
	poll, err := lock.NewSingle(r.clients[0], lock.Options{TTL: ttl})
	if err != nil {
		return contest{}, err
	}
	return contest{
		title: "Hand-over",
		about: "From the call of the holder's release to the return of the one acquire that waits for it. Each lock " +
			"waits as\n" +
			"it does by default: `lock.Single` polls every 50 to 200 ms, redsync every 50 to 250 ms. redislock has no " +
			"default\n" +
			"that waits, and is told to poll every 100 ms.",
		rounds: o.Handovers,
		teams: []contender{
			{name: "`lock.Single`, notify", turn: handOver(ours(notify, "notify"))},
			{name: "`lock.Single`, poll", turn: handOver(ours(poll, "poll"))},
			{name: "`bsm/redislock`", peer: "github.com/bsm/redislock", turn: handOver(r.redislock("redislock:waited"))},
			{name: "`go-redsync/redsync`, one node", peer: "github.com/go-redsync/redsync/v4",
				turn: handOver(redsyncAcquirer(r.redsync(r.clients[0]), "redsync:waited"))},
		},
	}, nil
}

// handOver is one turn: a holder, a waiter, a release.
func handOver(acquire acquirer) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		release, err := acquire(ctx)
		if err != nil {
			return 0, err
		}
		granted := make(chan error, 1)
		var at time.Time
		go func() {
			release, err := acquire(ctx)
			at = time.Now()
			if err == nil {
				err = release(ctx)
			}
			granted <- err
		}()
		time.Sleep(waitMin + rand.N(waitSpread))
		called := time.Now()
		err = errors.Join(release(ctx), <-granted)
		return at.Sub(called), err
	}
}

func ours(l lock.Locker, resource string) acquirer {
	return func(ctx context.Context) (func(context.Context) error, error) {
		lease, err := l.Acquire(ctx, resource)
		if err != nil {
			return nil, err
		}
		return lease.Release, nil
	}
}

func (r *rig) redislock(key string) acquirer {
	locks := redislock.New(r.clients[0])
	return func(ctx context.Context) (func(context.Context) error, error) {
		held, err := locks.Obtain(ctx, key, ttl,
			&redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
		if err != nil {
			return nil, err
		}
		return held.Release, nil
	}
}

func redsyncAcquirer(locks *redsync.Redsync, name string) acquirer {
	return func(ctx context.Context) (func(context.Context) error, error) {
		mutex := locks.NewMutex(name, redsync.WithExpiry(ttl))
		if err := mutex.LockContext(ctx); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			_, err := mutex.UnlockContext(ctx)
			return err
		}, nil
	}
}
