package locktest

import (
	"context"
	"time"

	"locksim/lock"
)

// faulty is a lock with one mistake. A nil function means that of the inner
// lock.
type faulty struct {
	lock.Locker
	acquire func(ctx context.Context, resource string) (lock.Lease, error)
	try     func(ctx context.Context, resource string) (lock.Lease, error)
	as      func(owner string) lock.Locker
	lease   func(ctx context.Context, resource string, l *faultyLease) // changes each lease
}

func (b faulty) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	acquire := b.acquire
	if acquire == nil {
		acquire = b.Locker.Acquire
	}
	return b.alter(ctx, resource, acquire)
}

func (b faulty) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	try := b.try
	if try == nil {
		try = b.Locker.(lock.Trier).TryAcquire
	}
	return b.alter(ctx, resource, try)
}

func (b faulty) As(owner string) lock.Locker {
	inner := b
	inner.Locker = b.as(owner)
	return inner
}

func (b faulty) alter(ctx context.Context, resource string, ask func(context.Context, string) (lock.Lease,
	error)) (lock.Lease, error) {
	inner, err := ask(ctx, resource)
	if err != nil {
		return nil, err
	}
	l := &faultyLease{Lease: inner, returned: time.Now()}
	if b.lease != nil {
		b.lease(ctx, resource, l)
	}
	return l, nil
}

// faultyLease is a lease with one mistake.
type faultyLease struct {
	lock.Lease
	returned time.Time

	token   func() uint64
	until   func() time.Time
	lost    func() <-chan struct{}
	context func() context.Context
	release func(ctx context.Context) error
	extend  func(ctx context.Context) error
}

func (l *faultyLease) Token() uint64 {
	if l.token != nil {
		return l.token()
	}
	return l.Lease.Token()
}

func (l *faultyLease) Until() time.Time {
	if l.until != nil {
		return l.until()
	}
	return l.Lease.Until()
}

func (l *faultyLease) Lost() <-chan struct{} {
	if l.lost != nil {
		return l.lost()
	}
	return l.Lease.Lost()
}

func (l *faultyLease) Context() context.Context {
	if l.context != nil {
		return l.context()
	}
	return l.Lease.Context()
}

func (l *faultyLease) Release(ctx context.Context) error {
	if l.release != nil {
		return l.release(ctx)
	}
	return l.Lease.Release(ctx)
}

func (l *faultyLease) Extend(ctx context.Context) error {
	if l.extend != nil {
		return l.extend(ctx)
	}
	return l.Lease.(lock.Extender).Extend(ctx)
}
