// Package frame has what the locks on etcd, ZooKeeper and SQL share: a session of the server has the lock, and the
// watchdog of package lock renews its lease.
package frame

import (
	"context"
	"errors"
	"fmt"

	"locksim/lock"
)

// Lease is what a watchdog makes of a lease.
type Lease interface {
	lock.Lease
	lock.Extender
}

// Ask is how a watchdog is asked: (*lock.Watchdog).Acquire or (*lock.Watchdog).TryAcquire.
type Ask func(w *lock.Watchdog, ctx context.Context, resource string) (lock.Lease, error)

// Renewed asks a lock, whose leases nothing renews, for a lease that a watchdog renews.
func Renewed(ctx context.Context, l lock.Locker, o lock.WatchdogOptions, resource string, ask Ask) (Lease, error) {
	w, err := lock.NewWatchdog(l, o)
	if err != nil {
		return nil, err
	}
	renewed, err := ask(w, ctx, resource)
	if err != nil {
		return nil, err
	}
	return renewed.(Lease), nil
}

// Acquire tries until a try is granted the lock, fails, or ctx ends. After the nth try, from 1, and its error again
// waits, and returns nil if it is to be tried again, or else the error of Acquire.
func Acquire(ctx context.Context, c lock.Clock, resource string, try func() (lock.Lease, error),
	again func(n int, err error) error) (lock.Lease, error) {
	began := c.Now()
	for n := 1; ; n++ {
		l, err := try()
		if err == nil {
			return l, nil
		}
		if err = again(n, err); err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("acquire %s: gave up after %v: %w", resource, c.Now().Sub(began), err)
		}
		return nil, fmt.Errorf("acquire %s: %w", resource, err)
	}
}

// Tried is what TryAcquire returns of one try.
func Tried(resource string, l lock.Lease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, fmt.Errorf("try to acquire %s: %w", resource, err)
	}
	return l, nil
}

// Over is the error of a request, with that of ctx if it has ended.
func Over(ctx context.Context, err error) error {
	switch ended := ctx.Err(); {
	case ended == nil || errors.Is(err, ended):
		return err
	case err == nil:
		return ended
	default:
		return fmt.Errorf("%w: %w", ended, err)
	}
}
