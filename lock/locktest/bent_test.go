package locktest

import (
	"context"
	"time"

	"locksim/lock"
)

// bent is a lock with one thing wrong. A nil function means the inner lock's.
type bent struct {
	lock.Locker
	acquire func(ctx context.Context, resource string) (lock.Lease, error)
	try     func(ctx context.Context, resource string) (lock.Lease, error)
	as      func(owner string) lock.Locker
	lease   func(ctx context.Context, resource string, l *bentLease) // bends each lease
}

func (b bent) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	acquire := b.acquire
	if acquire == nil {
		acquire = b.Locker.Acquire
	}
	return b.bend(ctx, resource, acquire)
}

func (b bent) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	try := b.try
	if try == nil {
		try = b.Locker.(lock.Trier).TryAcquire
	}
	return b.bend(ctx, resource, try)
}

func (b bent) As(owner string) lock.Locker {
	inner := b
	inner.Locker = b.as(owner)
	return inner
}

func (b bent) bend(ctx context.Context, resource string, ask func(context.Context, string) (lock.Lease, error)) (lock.Lease, error) {
	inner, err := ask(ctx, resource)
	if err != nil {
		return nil, err
	}
	l := &bentLease{Lease: inner, returned: time.Now()}
	if b.lease != nil {
		b.lease(ctx, resource, l)
	}
	return l, nil
}

// bentLease is a lease with one thing wrong.
type bentLease struct {
	lock.Lease
	returned time.Time

	token   func() uint64
	until   func() time.Time
	lost    func() <-chan struct{}
	context func() context.Context
	release func(ctx context.Context) error
	extend  func(ctx context.Context) error
}

func (l *bentLease) Token() uint64 {
	if l.token != nil {
		return l.token()
	}
	return l.Lease.Token()
}

func (l *bentLease) Until() time.Time {
	if l.until != nil {
		return l.until()
	}
	return l.Lease.Until()
}

func (l *bentLease) Lost() <-chan struct{} {
	if l.lost != nil {
		return l.lost()
	}
	return l.Lease.Lost()
}

func (l *bentLease) Context() context.Context {
	if l.context != nil {
		return l.context()
	}
	return l.Lease.Context()
}

func (l *bentLease) Release(ctx context.Context) error {
	if l.release != nil {
		return l.release(ctx)
	}
	return l.Lease.Release(ctx)
}

func (l *bentLease) Extend(ctx context.Context) error {
	if l.extend != nil {
		return l.extend(ctx)
	}
	return l.Lease.(lock.Extender).Extend(ctx)
}
