package locktest

import (
	"context"
	"errors"
	"time"

	"locksim/lock"
)

// extend renews a grant, and skips the test if its lease cannot be renewed.
func (s *trial) extend(ctx context.Context, g grant) error {
	s.Helper()
	e, ok := g.Lease.(lock.Extender)
	if !ok {
		s.Skip("the leases are no lock.Extender")
	}
	return e.Extend(ctx)
}

// extended renews a grant, which must succeed.
func extended(s *trial, g grant) {
	s.Helper()
	err := s.extend(s.ctx, g)
	if errors.Is(err, lock.ErrNotHeld) && g.over() {
		s.slow("the lease ended before it could be extended")
	}
	if err != nil {
		s.fatal("Extend", err)
	}
}

func extendMovesTheEnd(s *trial) {
	g := s.acquire(0)
	token := g.Token()
	for range 2 {
		before := g.Until()
		time.Sleep(s.TTL / 4)
		extended(s, g)
		if !g.Until().After(before) {
			s.Errorf("Extend has moved Until by %v", g.Until().Sub(before))
		}
		if left := time.Until(g.Until()); left > s.TTL {
			s.Errorf("after Extend %v are left, more than the TTL of %v", left, s.TTL)
		}
		if g.Token() != token {
			s.Errorf("Extend has changed the token from %d to %d", token, g.Token())
		}
	}
	s.release(g)
	s.want("Extend after the release", s.extend(s.ctx, g), lock.ErrNotHeld)
	s.wantFree(1)
	wantNothingLeft(s)
}

func extendKeepsOthersOut(s *trial) {
	s.acquireRelease(1)
	g := s.acquire(0)
	first := g.Until()
	extended(s, g) // skips before there is a waiter
	waiter := s.waiting(1)
	for time.Now().Before(first.Add(s.TTL / 2)) {
		time.Sleep(s.TTL / 4)
		extended(s, g)
	}
	if g.isLost() && !g.over() {
		s.Error("Lost is closed on a lease that was extended")
	}
	until := g.Until()
	released := time.Now()
	s.release(g)
	next := s.granted(waiter)
	if next.returned.Before(released) && next.returned.Before(until) {
		s.Errorf("granted %v before the release, and %v before the end, of a lease that was extended",
			released.Sub(next.returned), until.Sub(next.returned))
	}
	s.release(next)
}

func extendAfterTheEnd(s *trial) {
	g := s.acquire(0)
	extended(s, g)
	abandon(s, g)
	s.want("Extend after the end", s.extend(s.ctx, g), lock.ErrNotHeld)
	next := s.acquire(1)
	s.want("Extend after the next grant", s.extend(s.ctx, g), lock.ErrNotHeld)
	s.wantHeld(next, 2)
	s.release(next)
	s.want("Extend of a lock that is free", s.extend(s.ctx, g), lock.ErrNotHeld)
	s.wantFree(1)
	wantNothingLeft(s)
}

// extendOfTheForgotten detects renewal by SET, which creates a lock again (F05).
func extendOfTheForgotten(s *trial) {
	g := s.acquire(0)
	extended(s, g)
	s.forget()
	s.want("Extend of a lock that the servers forgot", s.extend(s.ctx, g), lock.ErrNotHeld)
	s.awaitLoss(g)
	wantNothingLeft(s)
	s.wantFree(1)
}

func extendReplyLost(s *trial) {
	if s.Connected {
		s.Skip("a lease ends with its connection")
	}
	w := s.wire(0)
	g := s.acquire(0)
	extended(s, g) // the connections and scripts exist from now on
	afterRenewal(s, g)
	before := g.Until()
	w.LoseReplies()
	ctx, cancel := s.within(s.TTL / 8)
	defer cancel()
	err := s.extend(ctx, g)
	w.Heal()
	if errors.Is(err, lock.ErrNotHeld) && g.over() {
		s.slow("the lease ended before it could be extended")
	}
	s.want("Extend without an answer", err, lock.ErrOutcomeUnknown)
	if g.isLost() && time.Now().Before(before) {
		s.Error("the lease was given up because of a missing answer, before its end")
	}
	s.wantHeld(g, 1)
}

// renewedWhileHeld holds a lease that is renewed automatically for several times its TTL, with a waiter.
func renewedWhileHeld(s *trial) {
	if !s.Renews {
		s.Skip("the leases are not renewed by themselves")
	}
	s.acquireRelease(1)
	g := s.acquire(0)
	token := g.Token()
	waiter := s.waiting(1)
	time.Sleep(3 * s.TTL)
	if g.isLost() {
		s.slow("the lease was lost while it was to be renewed")
	}
	if g.Token() != token {
		s.Errorf("the renewals have changed the token from %d to %d", token, g.Token())
	}
	released := time.Now()
	s.release(g)
	next := s.granted(waiter)
	if next.returned.Before(released) {
		s.Errorf("granted %v before the release of a lease that was renewed", released.Sub(next.returned))
	}
	s.release(next)
	wantNothingLeft(s)
}
