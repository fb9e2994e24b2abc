package locktest

import (
	"context"
	"errors"
	"sync"
	"time"

	"locksim/lock"
)

func releaseFreesAtOnce(s *trial) {
	s.acquireRelease(0) // connections exist from now on
	s.acquireRelease(1)
	for range 3 {
		g := s.acquire(0)
		s.prompt("the release and the next grant", func() {
			s.release(g)
			s.acquireRelease(1)
		})
	}
	wantNothingLeft(s)
}

// acquireRelease takes the lock for client i and gives it back.
func (s *trial) acquireRelease(i int) {
	s.Helper()
	s.release(s.acquire(i))
}

func releaseWakesAWaiter(s *trial) {
	g := s.acquire(0)
	waiter := s.waiting(1)
	time.Sleep(s.TTL / 4)
	released := time.Now()
	s.release(g)
	next := s.granted(waiter)
	if next.returned.Before(released) && next.returned.Before(g.Until()) {
		s.Error("the waiter was granted the lock before its release")
	}
	if !s.Renews && !next.returned.Before(g.Until()) {
		s.slow("the waiter was granted when the lease was over, released or not")
	}
	s.release(next)
}

func releaseAgain(s *trial) {
	g := s.acquire(0)
	s.release(g)
	s.again(g)
	next := s.acquire(1)
	s.again(g)
	s.wantHeld(next, 0)
	s.release(next)
}

func (s *trial) again(g grant) {
	s.Helper()
	if err := g.Release(s.ctx); err != nil {
		s.Errorf("a second release: %v, the first had worked", err)
	}
}

func releaseConcurrently(s *trial) {
	g := s.acquire(0)
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = g.Release(s.ctx) })
	}
	all.Wait()
	for _, err := range errs {
		s.released(g, err)
	}
	s.wantFree(1)
}

func releaseWithDeadContext(s *trial) {
	g := s.acquire(0)
	dead, cancel := context.WithCancel(s.ctx)
	cancel()
	s.released(g, g.Release(dead))
	s.wantFree(1)
}

func releaseIsNoLoss(s *trial) {
	g := s.acquire(0)
	s.release(g)
	if cause := context.Cause(g.Context()); errors.Is(cause, lock.ErrLost) {
		s.Error("after a release the cause of the context's end is ErrLost")
	}
	time.Sleep(time.Until(g.Until()) + s.TTL/4)
	if g.isLost() {
		s.Error("Lost was closed after a release")
	}
}

// releaseLeavesTheSuccessor detects the deletion of a key without a check of its owner (F02).
func releaseLeavesTheSuccessor(s *trial) {
	late := s.acquire(0)
	abandon(s, late)
	next := s.acquire(1)
	s.want("release after the end", releaseConclusively(s, late), lock.ErrNotHeld)
	s.wantHeld(next, 2)
	s.want("release after the end, again", releaseConclusively(s, late), lock.ErrNotHeld)
	s.wantHeld(next, 0)
	s.release(next)
	wantNothingLeft(s)
}

// releaseConclusively releases until the outcome is known: connections may be broken.
func releaseConclusively(s *trial, g grant) error {
	for {
		err := g.Release(s.ctx)
		if !errors.Is(err, lock.ErrOutcomeUnknown) || s.ctx.Err() != nil {
			return err
		}
	}
}

// forget deletes the lock on the servers, and skips the test if the harness cannot.
func (s *trial) forget() {
	s.Helper()
	if s.world.Forget == nil || s.world.Left == nil {
		s.Skip("the harness cannot make the servers forget")
	}
	if len(s.world.Left(s.TB, s.resource)) == 0 {
		s.slow("the servers had forgotten the lock already")
	}
	s.world.Forget(s.TB, s.resource)
}

func releaseOfTheForgotten(s *trial) {
	g := s.acquire(0)
	s.forget()
	s.want("release of a lock that the servers forgot", releaseConclusively(s, g), lock.ErrNotHeld)
	s.want("the same again", releaseConclusively(s, g), lock.ErrNotHeld)
	wantNothingLeft(s)
}
