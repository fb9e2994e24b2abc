package locktest

import (
	"context"
	"errors"
	"time"

	"locksim/lock"
)

// trier returns the lock of client i as a lock.Trier, and skips the test if it is none.
func trier(s *trial, i int) lock.Trier {
	s.Helper()
	l, ok := s.locker(i).(lock.Trier)
	if !ok {
		s.Skip("the lock is no lock.Trier")
	}
	return l
}

func (s *trial) try(ctx context.Context, i int) (grant, error) {
	s.Helper()
	l := trier(s, i)
	g := grant{client: i, asked: time.Now()}
	lease, err := l.TryAcquire(ctx, s.resource)
	g.Lease, g.returned = lease, time.Now()
	return g, s.track(g, err)
}

// waitFor is Acquire by client i, as try is TryAcquire.
func (s *trial) waitFor(ctx context.Context, i int) (grant, error) { return s.ask(ctx, s.locker(i), i) }

func tryOnce(s *trial) {
	g, err := s.try(s.ctx, 0)
	if err != nil {
		s.fatal("TryAcquire of a free lock", err)
	}
	wantTaken(s, g, 1)
	wantTaken(s, g, 0)
	s.wantHeld(g, 2)
	s.release(g)
	wantTriedSoon(s, 1)
	dead, cancel := context.WithCancel(s.ctx)
	cancel()
	_, err = s.try(dead, 0)
	s.want("TryAcquire with a dead context", err, context.Canceled)
}

// wantTriedSoon fails unless client i gets a lock that was released. Not the first try must get it: another client that
// asked and gave up has the lock for a moment, if the server answers its request after the release.
func wantTriedSoon(s *trial, i int) {
	s.Helper()
	end := time.Now().Add(s.TTL / 2)
	for asked := 1; ; asked++ {
		g, err := s.try(s.ctx, i)
		switch {
		case err == nil:
			s.release(g)
			return
		case !errors.Is(err, lock.ErrTaken) || asked > 10 && !time.Now().Before(end):
			s.fatal("TryAcquire after the release", err)
		}
		time.Sleep(s.TTL / 50)
	}
}

// wantTaken fails unless a try by client i is refused, without waiting for the holder.
func wantTaken(s *trial, holder grant, i int) {
	s.Helper()
	g, err := s.try(s.ctx, i)
	if !g.returned.Before(holder.Until()) {
		s.slow("the lease of c%d ended while c%d tried", holder.client, i)
	}
	if err == nil {
		_ = g.Release(s.ctx)
		s.Errorf("c%d was granted the lock while c%d holds it", i, holder.client)
		return
	}
	s.want("TryAcquire of a lock that is held", err, lock.ErrTaken)
}

func tryLeavesNothing(s *trial) {
	g, err := s.try(s.ctx, 0)
	if err != nil {
		s.fatal("TryAcquire of a free lock", err)
	}
	for i := 1; i < clients; i++ {
		wantTaken(s, g, i)
	}
	s.release(g)
	wantNothingLeft(s)
	s.wantFree(1)
}
