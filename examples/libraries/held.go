// Package libraries puts unmodified libraries on trial: they draw from global
// random sources, dial by themselves and read time.Now. With the build overlay of locksim
// all of that belongs to the simulated process that runs them.
//
//	go test $(go tool locksim overlay) .
package libraries

import (
	"context"
	"sync"
	"time"

	"locksim/lock"
	"locksim/scenarios"
)

// ttl is the length of a lease of all libraries.
const ttl = 10 * time.Second

// detection is how long a holder may take to learn that it has lost a lock of rueidislock or valkeylock. They renew a
// key twice in a lease, by default, and the first renewal that finds it gone ends the context of the lease, after a
// round trip.
const detection = ttl/2 + time.Second

// withContext is the interface of rueidislock and valkeylock.
type withContext interface {
	WithContext(ctx context.Context, name string) (context.Context, context.CancelFunc, error)
	Close()
}

// contextLocker makes its lock when it is first used: that dials, and in New the world
// does not run yet.
type contextLocker struct {
	env  scenarios.Env
	open func() (withContext, error)
}

func opened[L withContext](e scenarios.Env, open func() (L, error)) lock.Locker {
	return contextLocker{e, sync.OnceValues(func() (withContext, error) {
		l, err := open()
		if err == nil {
			e.OnEnd(l.Close)
		}
		return l, err
	})}
}

func (c contextLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l, err := c.open()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // while it was opened
	}
	return scenarios.Within(ctx, c.env, func(ctx context.Context) (context.Context, func(), error) {
		return l.WithContext(ctx, name)
	})
}

// lease is a lease that does not tell its end. Its context ends when it is lost.
type lease struct {
	held    context.Context
	release func() error
}

func (l lease) Token() uint64                 { return 0 }
func (l lease) Until() time.Time              { return time.Time{} }
func (l lease) Lost() <-chan struct{}         { return l.held.Done() }
func (l lease) Context() context.Context      { return l.held }
func (l lease) Release(context.Context) error { return l.release() }
