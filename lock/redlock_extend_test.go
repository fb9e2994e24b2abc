package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksim/lock"
)

func TestRedlockExtendMovesTheEnd(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lease := g.acquire(l)
		lines.each((*wire).cut, 0, 4)
		time.Sleep(9 * time.Second)
		if err := extend(g.Context(), lease); err != nil {
			g.Fatal(err)
		}
		if left := time.Until(lease.Until()); left != validity-nodeTimeout { // from the send
			g.Errorf("the lease has %v left, want %v", left, validity-nodeTimeout)
		}
		for i, want := range []time.Duration{1, 10, 10, 10, 1} {
			if left := g.nodes[i].TTL(l.Key(resource)); left != want*time.Second-nodeTimeout {
				g.Errorf("the key on r%d lasts %v, want %ds less a node timeout", i, left, want)
			}
		}
	})
}

func TestRedlockExtendNeverMakesAKey(t *testing.T) { // F05
	everyRedlock(t, func(g *grid) {
		l, _ := g.lock(lock.RedlockOptions{})
		lease := g.acquire(l)
		g.forget(l, 0, 1)
		if err := extend(g.Context(), lease); err != nil {
			g.Error(err)
		}
		g.wantHolding(l, 2, 3, 4)

		g.forget(l, 2)
		g.want(extend(g.Context(), lease), lock.ErrNotHeld)
		g.wantHolding(l, 3, 4)
		if !lost(lease) {
			g.Error("the holder was not told")
		}
		g.want(context.Cause(lease.Context()), lock.ErrLost)
	})
}

func TestUndecidedExtension(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lease := g.acquire(l)
		until := lease.Until()
		g.forget(l, 0)
		lines.each((*wire).cut, 2, 3)
		time.Sleep(time.Second)
		err := extend(g.Context(), lease)
		g.want(err, lock.ErrNoQuorum)
		g.wantNodes(err, 0, 2, 3)
		if errors.Is(err, lock.ErrNotHeld) {
			g.Errorf("error %v wraps ErrNotHeld: the outcome is unknown", err)
		}
		if lost(lease) || !lease.Until().Equal(until) {
			g.Errorf("lost: %v; Until has moved by %v", lost(lease), lease.Until().Sub(until))
		}
	})
}

func TestLimitOfExtensions(t *testing.T) { // F71
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{MaxExtensions: 2})
		lease := g.acquire(l)
		if err := extend(g.Context(), lease); err != nil {
			g.Error(err)
		}
		lines.each((*wire).cut, 0, 1, 2)
		g.want(extend(g.Context(), lease), lock.ErrNoQuorum) // does not count
		lines.each((*wire).heal, 0, 1, 2)
		time.Sleep(time.Second)
		if err := extend(g.Context(), lease); err != nil {
			g.Error(err)
		}
		err := extend(g.Context(), lease)
		g.want(err, lock.ErrExtensionLimit)
		if want := "extend order:42: limit of extensions of 2"; err == nil || err.Error() != want {
			g.Errorf("error %v, want %s", err, want)
		}
		if lost(lease) {
			g.Error("lost before Until")
		}
		g.release(lease)
	})
}

// watchdog returns a watchdog over a lock of the kind under test.
func (g *grid) watchdog(o lock.RedlockOptions, d lock.WatchdogOptions) (*lock.Watchdog, redlocker, wires) {
	g.Helper()
	l, lines := g.lock(o)
	dog, err := lock.NewWatchdog(l, d)
	if err != nil {
		g.Fatal(err)
	}
	return dog, l, lines
}

func TestWatchdogOverARedlock(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		dog, l, lines := g.watchdog(lock.RedlockOptions{}, lock.WatchdogOptions{})
		lease := g.acquire(dog)
		lines.each((*wire).cut, 0, 1)
		time.Sleep(time.Hour / 2)
		if lost(lease) {
			g.Fatal("lost, though a majority renews it")
		}
		g.wantHolding(l, 2, 3, 4)
		if left := time.Until(lease.Until()); left < validity/2 {
			g.Errorf("the lease has %v left", left)
		}
		_ = lease.Release(g.Context())
		g.wantHolding(l)
	})
}

func TestWatchdogOverARedlockWithoutMajority(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		dog, l, lines := g.watchdog(lock.RedlockOptions{}, lock.WatchdogOptions{})
		lease := g.acquire(dog)
		lines.each((*wire).cut, 0, 1, 2)
		began := time.Now()
		<-lease.Lost()
		if after := time.Since(began); after != validity-validity/10 {
			g.Errorf("lost after %v, want %v", after, validity-validity/10)
		}
		for _, i := range []int{0, 1, 2} { // the nodes that another client would need
			if left := g.nodes[i].TTL(l.Key(resource)); left <= validity/10 {
				g.Errorf("the key on r%d lasts %v when the holder is told", i, left)
			}
		}
		_ = lease.Release(g.Context())
	})
}

func TestWatchdogOverARedlockThatHasLostItsMajority(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		dog, l, _ := g.watchdog(lock.RedlockOptions{}, lock.WatchdogOptions{})
		lease := g.acquire(dog)
		g.forget(l, 1, 2, 3)
		began := time.Now()
		<-lease.Lost()
		if after := time.Since(began); after != validity/3 {
			g.Errorf("lost after %v, want by the first renewal, after %v", after, validity/3)
		}
	})
}

func TestWatchdogStopsAtTheLimitOfExtensions(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		dog, _, _ := g.watchdog(lock.RedlockOptions{MaxExtensions: 2}, lock.WatchdogOptions{})
		lease := g.acquire(dog)
		began := time.Now()
		<-lease.Lost()
		if after, want := time.Since(began), 2*(validity/3)+validity-validity/10; after != want {
			g.Errorf("lost after %v, want %v", after, want)
		}
		g.release(lease)
	})
}
