package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock"
)

// foreignGrant is a grant of a lock of another package.
type foreignGrant struct {
	held bool
	ttl  time.Duration
}

func (g *foreignGrant) Extend(context.Context) (until time.Time, held bool, err error) {
	return time.Now().Add(g.ttl), g.held, nil
}

func (g *foreignGrant) Delete(context.Context) (deleted bool, err error) { return g.held, nil }

// The lease of a lock of another package ends, is extended and is released as those of this package are.
func TestNewLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 10 * time.Second
		lease := func(held bool) (*foreignGrant, lock.Lease) {
			g := &foreignGrant{held: held, ttl: ttl}
			return g, lock.NewLease(t.Context(), lock.SystemClock(), g, resource, 7, time.Now().Add(ttl))
		}
		isLost := func(l lock.Lease) bool {
			synctest.Wait()
			select {
			case <-l.Lost():
				return errors.Is(context.Cause(l.Context()), lock.ErrLost)
			default:
				return false
			}
		}
		_, l := lease(true)
		if l.Token() != 7 {
			t.Errorf("token %d, want 7", l.Token())
		}
		time.Sleep(ttl - time.Nanosecond)
		if err := l.(lock.Extender).Extend(t.Context()); err != nil || isLost(l) {
			t.Errorf("extend: %v, lost %v", err, isLost(l))
		}
		time.Sleep(ttl - time.Nanosecond)
		if isLost(l) {
			t.Error("the lease was lost before its end")
		}
		time.Sleep(time.Nanosecond)
		if !isLost(l) {
			t.Error("the lease was not lost at its end")
		}

		g, l := lease(true)
		g.held = false
		if err := l.(lock.Extender).Extend(t.Context()); !errors.Is(err, lock.ErrNotHeld) || !isLost(l) {
			t.Errorf("extend of what is gone: %v, lost %v", err, isLost(l))
		}

		g, l = lease(true)
		if err := l.Release(t.Context()); err != nil || isLost(l) || l.Context().Err() == nil {
			t.Errorf("release: %v, lost %v", err, isLost(l))
		}
		g.held = false
		if err := l.Release(t.Context()); err != nil {
			t.Errorf("the second release: %v", err)
		}
		if _, l = lease(false); !errors.Is(l.Release(t.Context()), lock.ErrNotHeld) {
			t.Error("a release of what is gone succeeded")
		}
	})
}
