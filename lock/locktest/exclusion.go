package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"locksim/lock"
)

// leaseAsPromised checks one lease without faults from its grant to its release.
func leaseAsPromised(s *trial) {
	g := s.acquire(0)
	if latest := g.returned.Add(s.TTL); g.Until().After(latest) {
		s.Errorf("Until lies %v after the grant, beyond the TTL of %v", g.Until().Sub(g.returned), s.TTL)
	}
	if g.over() {
		s.slow("the lease was over when Acquire returned")
	}
	if has := g.Token() != 0; has != s.Tokens {
		s.Errorf("token %d, but Tokens is %v", g.Token(), s.Tokens)
	}
	if !g.over() && (g.isLost() || g.Context().Err() != nil) && !g.over() {
		s.Errorf("the lease is lost at once: its context says %v", context.Cause(g.Context()))
	}
	s.release(g)
	if g.Context().Err() == nil {
		s.Error("the lease's context goes on after the release")
	}
	wantNothingLeft(s)
}

func oneHolderAmongClients(s *trial) {
	lockers := make([]lock.Locker, clients)
	for i := range lockers {
		lockers[i] = s.locker(i)
	}
	contend(s, lockers)
}

func oneHolderAmongGoroutines(s *trial) {
	contend(s, slices.Repeat([]lock.Locker{s.locker(0)}, clients))
}

// claim is the time for which a worker had the lock: from the return of Acquire until the call of Release, or until the
// end of its lease if that was first.
type claim struct {
	worker          int
	asked, from, to time.Time
}

// contend makes workers contend for the lock, and fails if two claims overlap.
func contend(s *trial, lockers []lock.Locker) {
	s.Helper()
	const rounds = 3
	var (
		mu     sync.Mutex
		all    []claim
		errs   []error
		crowd  sync.WaitGroup
		worker = func(i int, l lock.Locker) {
			for range rounds {
				c, err := s.claim(l, i)
				mu.Lock()
				if err != nil {
					errs = append(errs, fmt.Errorf("worker %d: %w", i, err))
					mu.Unlock()
					return
				}
				all = append(all, c)
				mu.Unlock()
			}
		}
	)
	for i, l := range lockers {
		crowd.Go(func() { worker(i, l) })
	}
	crowd.Wait()
	wantApart(s, all)
	for _, err := range errs {
		s.fatal("contention", err)
	}
}

// claim takes the lock once, holds it, and gives it back. It does not fail the test, since workers call it.
func (s *trial) claim(l lock.Locker, worker int) (claim, error) {
	g, err := s.ask(s.ctx, l, worker)
	if err != nil {
		return claim{}, err
	}
	time.Sleep(s.TTL / 40)
	c := claim{worker: worker, asked: g.asked, from: g.returned, to: time.Now()}
	if until := g.Until(); until.Before(c.to) {
		c.to = until
	}
	if err := g.Release(s.ctx); err != nil && !(errors.Is(err, lock.ErrNotHeld) && g.over()) {
		return c, err
	}
	return c, nil
}

// wantApart fails if claims overlap, or if there was no contention.
func wantApart(s *trial, all []claim) {
	s.Helper()
	slices.SortFunc(all, func(a, b claim) int { return a.from.Compare(b.from) })
	contended := false
	for i := 1; i < len(all); i++ {
		before, c := all[i-1], all[i]
		if c.from.Before(before.to) {
			s.Errorf("worker %d was granted the lock while worker %d holds it, %v before the release",
				c.worker, before.worker, before.to.Sub(c.from))
		}
		contended = contended || c.asked.Before(before.to)
	}
	if !contended {
		s.slow("no worker has asked for the lock while another held it")
	}
}

func resourcesAreIndependent(s *trial) {
	held := s.acquire(0)
	for i := range 2 {
		for _, name := range []string{":a", ":b"} {
			s.prompt("taking the lock of another resource", func() {
				other := s.on(s.resource + name)
				s.release(other.acquire(i))
			})
		}
	}
	s.wantHeld(held, 1)
	s.release(held)
}
