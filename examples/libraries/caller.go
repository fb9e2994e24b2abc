package libraries

import (
	"context"
	"sync/atomic"

	"locksim/lock"
	"locksim/scenarios"
)

// careful is the lock with a caller who releases it under a context that does not end, whatever the library: adapters
// hand the context of a release on as it is. The locks of locksim itself, which live with any context, are played as
// they are.
func (x Lock) careful() scenarios.Lock {
	if _, err := scenarios.Kind(x.Name); err == nil {
		return x.Lock
	}
	return withCaller(x.Lock, func(l lock.Lease) releasing { return &carefully{l} })
}

// careless is the lock with a caller who makes the mistakes of the column [Misused].
func (x Lock) careless() scenarios.Lock {
	l := withCaller(x.Lock, func(l lock.Lease) releasing { return &carelessly{Lease: l} })
	l.Name = x.Name + "-misused"
	return l
}

// releasing is a lease with another Release.
type releasing interface{ lock.Lease }

// withCaller is a lock of which each lease is released by a caller of some kind.
func withCaller(l scenarios.Lock, caller func(lock.Lease) releasing) scenarios.Lock {
	open := l.New
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		locker, err := open(e)
		if err != nil {
			return nil, err
		}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			lease, err := locker.Acquire(ctx, name)
			if lease == nil {
				return nil, err
			}
			c := called{caller(lease), lease}
			if x, ok := lease.(lock.Extender); ok {
				return &calledExtender{c, x}, err
			}
			return &c, err
		}), nil
	}
	return l
}

// called is a lease as its caller uses it.
type called struct {
	releasing
	lease lock.Lease
}

// CalledBack is how often each callback of an election has been called, for a lease that counts it.
func (c *called) CalledBack() (started, stopped int) {
	if l, ok := c.lease.(interface{ CalledBack() (started, stopped int) }); ok {
		return l.CalledBack()
	}
	return 0, 0
}

type calledExtender struct {
	called
	lock.Extender
}

type carefully struct{ lock.Lease }

func (c *carefully) Release(ctx context.Context) error {
	return c.Lease.Release(context.WithoutCancel(ctx))
}

// carelessly hands on the context of each release as it is, and counts the mistakes.
type carelessly struct {
	lock.Lease
	failed atomic.Bool
}

// mistakes counts the releases under a context that has ended, and those that are called again after one that failed.
var mistakes atomic.Int64

func (c *carelessly) Release(ctx context.Context) error {
	again := c.failed.Load()
	err := c.Lease.Release(ctx)
	if again || ctx.Err() != nil {
		mistakes.Add(1)
	}
	c.failed.Store(err != nil)
	return err
}
