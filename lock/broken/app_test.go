package broken_test

import (
	"context"
	"fmt"
	"time"

	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/store"
)

// app wraps the lock of a workload, which has the given TTL, in the program of a user.
type app func(e subject.Env, l lock.Locker, ttl time.Duration) lock.Locker

// nested is a program whose section calls code that takes the same lock and writes under it.
func nested(e subject.Env, l lock.Locker, _ time.Duration) lock.Locker {
	return nestedLocker{e.Name(), store.NewClient(e), l.(lock.Owned).As(e.Name())}
}

type nestedLocker struct {
	client string
	store  *store.Client
	lock   lock.Locker
}

func (n nestedLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
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

// perRequest is a program that serves requests, which end after a tenth of the TTL, and releases under their contexts.
// Like a deferred Release, it ignores the error.
func perRequest(_ subject.Env, l lock.Locker, ttl time.Duration) lock.Locker {
	return requestLocker{l, ttl / 10}
}

type requestLocker struct {
	lock  lock.Locker
	limit time.Duration
}

type requestLease struct {
	lock.Lease
	ctx    context.Context
	cancel context.CancelFunc
}

func (r requestLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := r.lock.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	return requestLease{l, ctx, cancel}, nil
}

func (r requestLease) Release(context.Context) error {
	defer r.cancel()
	_ = r.Lease.Release(r.ctx)
	return nil
}
