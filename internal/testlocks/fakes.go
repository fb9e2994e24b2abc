package testlocks

import (
	"context"
	"fmt"
	"time"

	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// Fake is a lock that cannot work, with words that must be in the message of the
// test that fails with it.
type Fake struct {
	Lock subject.Lock
	Says string
}

// Fakes are locks that exclude nobody, or that nobody but one client can have.
// Those that claim nothing never have two claims that overlap. Each promises
// what a lock on one node promises.
func Fakes() []Fake {
	pings := func(name, says string, lease func(e subject.Env) lock.Lease) Fake {
		return fake(name, says, func(e subject.Env, _ lock.Locker) lock.Locker {
			return locker(func(ctx context.Context, _ string) (lock.Lease, error) {
				if err := redisclient.New(e, subject.Primary).Ping(ctx).Err(); err != nil {
					return nil, err
				}
				return lease(e), nil
			})
		})
	}
	ends := func(after time.Duration) func(e subject.Env) lock.Lease {
		return func(e subject.Env) lock.Lease { return fakeLease{until: e.Clock().Now().Add(after)} }
	}
	closed := make(chan struct{})
	close(closed)
	return []Fake{
		fake("no-ttl-added", "Until must be the instant of the request plus the TTL",
			func(e subject.Env, _ lock.Locker) lock.Locker {
				return locker(func(ctx context.Context, _ string) (lock.Lease, error) {
					asked := e.Clock().Now()
					return fakeLease{until: asked}, redisclient.New(e, subject.Primary).Ping(ctx).Err()
				})
			}),
		pings("ttl-in-nanoseconds", "is the TTL in the right unit", ends(2000)),
		pings("one-nanosecond", "excludes nobody|right unit", ends(1)),
		pings("epoch", "Until must be the instant of the request plus the TTL",
			func(subject.Env) lock.Lease { return fakeLease{until: time.Unix(0, 0)} }),
		pings("lost-at-once", "a lease that the lock knew to be lost by then", func(e subject.Env) lock.Lease {
			return fakeLease{until: e.Clock().Now().Add(TTL), lost: closed}
		}),
		fake("first-client-only", "could not be taken again", func(e subject.Env, l lock.Locker) lock.Locker {
			return locker(func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "c0" {
					return l.Acquire(ctx, resource)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			})
		}),
		fake("no-release", "every client has released", func(_ subject.Env, l lock.Locker) lock.Locker {
			return locker(func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := l.Acquire(ctx, resource)
				if err != nil {
					return nil, err
				}
				return noOwnerCheckLease{lease, func(context.Context) error { return nil }}, nil
			})
		}),
		fake("every-second-caller", "while c[0-9]'s claim", func(e subject.Env, l lock.Locker) lock.Locker {
			calls := 0
			return locker(func(ctx context.Context, resource string) (lock.Lease, error) {
				if calls++; calls%2 == 0 {
					return fakeLease{until: e.Clock().Now().Add(TTL)}, nil
				}
				return l.Acquire(ctx, resource)
			})
		}),
	}
}

func fake(name, says string, wrap func(e subject.Env, l lock.Locker) lock.Locker) Fake {
	l := UserLock(name, wrap)
	l.Promise = promised()
	return Fake{l, says}
}

// locker is an Acquire function as a [lock.Locker].
type locker func(ctx context.Context, resource string) (lock.Lease, error)

// Acquire implements [lock.Locker].
func (f locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return f(ctx, resource)
}

// fakeLease is a lease without anything behind it.
type fakeLease struct {
	until time.Time
	lost  chan struct{}
}

func (l fakeLease) Token() uint64                 { return 0 }
func (l fakeLease) Until() time.Time              { return l.until }
func (l fakeLease) Lost() <-chan struct{}         { return l.lost }
func (l fakeLease) Context() context.Context      { return context.Background() }
func (l fakeLease) Release(context.Context) error { return nil }

// InVariable is a lock in a variable of the program for each name, which the clients of a run share.
// Nothing frees it but a release: a claim of [TTL] is all that ends with its lease. It
// has the promise of a lock on one node.
func InVariable(name string, wrap func(e subject.Env, l lock.Locker) lock.Locker) subject.Lock {
	var holders map[string]string
	l := subject.Lock{Name: name, New: func(e subject.Env) (lock.Locker, error) {
		if IsRunStart(e) {
			holders = map[string]string{}
		}
		return wrap(e, variable{e, holders}), nil
	}}
	l.Promise = promised()
	return l
}

type variable struct {
	env     subject.Env
	holders map[string]string // by the resource
}

// TryAcquire implements [lock.Trier].
func (v variable) TryAcquire(_ context.Context, resource string) (lock.Lease, error) {
	if v.holders[resource] != "" {
		return nil, fmt.Errorf("acquire: %w", lock.ErrTaken)
	}
	v.holders[resource] = v.env.Name()
	return noOwnerCheckLease{fakeLease{until: v.env.Clock().Now().Add(TTL)}, func(context.Context) error {
		if v.holders[resource] == v.env.Name() {
			v.holders[resource] = ""
		}
		return nil
	}}, nil
}

// Acquire implements [lock.Locker].
func (v variable) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for {
		if lease, err := v.TryAcquire(ctx, resource); err == nil {
			return lease, nil
		}
		if err := v.env.Clock().Sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for the lock: %w", err)
		}
	}
}
