package locktest

import (
	"context"
	"time"

	"locksim/lock"
)

func expiryFrees(s *trial) {
	s.acquireRelease(1)
	g := s.acquire(0)
	waiter := s.waiting(1)
	abandon(s, g)
	until := g.Until()
	next := s.granted(waiter)
	late := next.returned.Sub(until)
	if late < 0 {
		s.Errorf("granted %v before the end of the lease of another", -late)
	}
	if late > s.TTL/2+s.Slack {
		s.Errorf("granted %v after the end of the lease, more than %v", late, s.TTL/2+s.Slack)
	}
	s.release(next)
}

func lossIsTold(s *trial) {
	g := s.acquire(0)
	time.Sleep(s.TTL / 4)
	lost, over := g.isLost(), g.over() // in this order
	if lost && !over {
		s.Errorf("Lost is closed although nothing has happened, %v before the end of the lease", time.Until(g.Until()))
	}
	abandon(s, g)
	s.want("the context of a lost lease", g.Context().Err(), context.Canceled)
	s.want("the cause of its end", context.Cause(g.Context()), lock.ErrLost)

	time.Sleep(time.Until(g.Until()) + s.TTL/4) // by now the servers have ended it too
	if err := releaseConclusively(s, g); err != nil {
		s.want("release of a lost lease", err, lock.ErrNotHeld)
	}
	s.want("the cause, after the release,", context.Cause(g.Context()), lock.ErrLost)
	s.wantFree(1)
}

// validityCountsFromTheSending delays the answer, while the server's clock runs.
func validityCountsFromTheSending(s *trial) {
	w := s.wire(0)
	s.acquireRelease(0)
	delay := s.TTL / 40 // some locks wait for an answer only for a fraction of the TTL
	w.DelayReplies(delay)
	g := s.acquire(0)
	w.Heal()
	if latest := g.returned.Add(s.TTL - delay); g.Until().After(latest) {
		s.Errorf("Until lies %v after the answer, which came %v after the sending: that is beyond the TTL of %v",
			g.Until().Sub(g.returned), delay, s.TTL)
	}
	s.release(g)
}
