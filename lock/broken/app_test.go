package broken_test

import (
	"context"
	"fmt"
	"time"

	"locksim/lock"
	"locksim/scenarios/play"
	"locksim/sim/store"
)

// app is what stands between the workload and its lock, which has the given TTL: the program of a user.
type app func(e play.Env, l lock.Locker, ttl time.Duration) lock.Locker

// nested is a program whose section calls something that takes the same lock and writes under it.
func nested(e play.Env, l lock.Locker, _ time.Duration) lock.Locker {
	return nesting{e.Name(), store.NewClient(e), l.(lock.Owned).As(e.Name())}
}

type nesting struct {
	client string
	store  *store.Client
	lock   lock.Locker
}

func (n nesting) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	outer, err := n.lock.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	inner, err := n.lock.Acquire(ctx, resource)
	if err != nil {
		return nil, fmt.Errorf("enter again: %w", err)
	}
	op := store.Op{Resource: resource, Register: "audit", ID: n.client + ".inner", Token: inner.Token()}
	if err := n.store.Write(ctx, op); err != nil {
		return nil, fmt.Errorf("write the inner section: %w", err)
	}
	return outer, inner.Release(ctx)
}

// request is a program that works for requests which end after a tenth of the TTL, and releases under
// their contexts. Like any deferred Release, it does not look at the error.
func request(_ play.Env, l lock.Locker, ttl time.Duration) lock.Locker {
	return requests{l, ttl / 10}
}

type requests struct {
	lock  lock.Locker
	limit time.Duration
}

type requested struct {
	lock.Lease
	ctx    context.Context
	cancel context.CancelFunc
}

func (r requests) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := r.lock.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	return requested{l, ctx, cancel}, nil
}

func (r requested) Release(context.Context) error {
	defer r.cancel()
	_ = r.Lease.Release(r.ctx)
	return nil
}
