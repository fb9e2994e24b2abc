package locktest

import (
	"context"
	"errors"
	"time"

	"locksim/lock"
)

func acquireReplyLost(s *trial)   { askLost(s, (*trial).waitFor, (*Wire).LoseReplies) }
func acquireRequestLost(s *trial) { askLost(s, (*trial).waitFor, (*Wire).LoseRequests) }
func tryReplyLost(s *trial)       { askLost(s, (*trial).try, (*Wire).LoseReplies) }
func tryRequestLost(s *trial)     { askLost(s, (*trial).try, (*Wire).LoseRequests) }

// askLost loses a request for the lock. A lock may report an unknown outcome, or ask again and be granted. It must not
// report that another client has the lock, and in neither case may the lock stay taken for longer than a lease lasts.
func askLost(s *trial, ask func(*trial, context.Context, int) (grant, error), lose func(*Wire)) {
	w := s.wire(0)
	s.acquireRelease(0)
	lose(w)
	ctx, cancel := s.within(s.TTL / 4)
	defer cancel()
	g, err := ask(s, ctx, 0)
	if err == nil {
		s.wantHeld(g, 1)
		s.release(g)
	} else {
		s.want("a request for the lock without an answer", err, lock.ErrOutcomeUnknown)
		if errors.Is(err, lock.ErrTaken) {
			s.Errorf("a request for a free lock without an answer: %v", err)
		}
	}
	w.Heal()

	latest := g.returned.Add(s.TTL + s.Slack)
	next := s.acquire(1)
	if late := next.returned.Sub(latest); late > 0 {
		s.Errorf("the lock was taken for %v longer than a lease lasts", late)
	}
	s.release(next)
	wantNothingLeft(s)
}

func releaseReplyLost(s *trial)   { releaseLost(s, (*Wire).LoseReplies) }
func releaseRequestLost(s *trial) { releaseLost(s, (*Wire).LoseRequests) }

// releaseLost loses a release. It may report an unknown outcome, and be called again; it must not report that the lock
// was not held.
func releaseLost(s *trial, lose func(*Wire)) {
	w := s.wire(0)
	s.acquireRelease(0)
	g := s.acquire(0)
	afterRenewal(s, g)
	lose(w)
	if err := g.Release(s.ctx); err != nil {
		if errors.Is(err, lock.ErrNotHeld) && !g.over() {
			s.Errorf("release without an answer: %v", err)
		}
		s.want("release without an answer", err, lock.ErrOutcomeUnknown)
		if err := releaseConclusively(s, g); err != nil {
			s.want("release, again", err, lock.ErrNotHeld)
		}
	}
	w.Heal()
	s.wantFree(1)
	wantNothingLeft(s)
}

// afterRenewal waits until a lease has just been renewed, if it is renewed automatically: the next request to the
// servers is then the test's own.
func afterRenewal(s *trial, g grant) {
	if !s.Renews {
		return
	}
	before := g.Until()
	for g.Until().Equal(before) {
		if g.isLost() {
			s.slow("the lease was lost before it was renewed")
		}
		time.Sleep(s.TTL / 100)
	}
}
