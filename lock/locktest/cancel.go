package locktest

import (
	"context"
	"time"
)

func contextDeadBefore(s *trial) {
	s.acquireRelease(0)
	dead, cancel := context.WithCancel(s.ctx)
	cancel()
	g, err := s.ask(dead, s.locker(0), 0)
	if err == nil {
		s.release(g)
	}
	s.want("Acquire with a dead context", err, context.Canceled)
	s.wantFree(1)
	wantNothingLeft(s)
}

func deadlineWhileWaiting(s *trial) {
	s.acquireRelease(1)
	g := s.acquire(0)
	ctx, cancel := s.within(s.TTL / 4)
	defer cancel()
	wantGivenUp(s, ctx, g, <-s.waitingBy(ctx, s.locker(1), 1), context.DeadlineExceeded)
	s.release(g)
	s.wantFree(2)
}

func cancelledWhileWaiting(s *trial) {
	s.acquireRelease(1)
	g := s.acquire(0)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	waiter := s.waitingBy(ctx, s.locker(1), 1)
	time.Sleep(s.TTL / 8)
	cancel()
	wantGivenUp(s, ctx, g, <-waiter, context.Canceled)
	s.release(g)
	s.wantFree(2)
}

// wantGivenUp fails unless a waiter has given up soon after the end of its context, because of it.
func wantGivenUp(s *trial, ctx context.Context, holder grant, a answer, cause error) {
	s.Helper()
	if a.err == nil {
		_ = a.Release(s.ctx)
		if !a.returned.Before(holder.Until()) {
			s.slow("the lease of c%d ended while c%d waited", holder.client, a.client)
		}
		s.Errorf("c%d was granted the lock while c%d holds it", a.client, holder.client)
		return
	}
	s.want("Acquire that gave up", a.err, cause)
	deadline, _ := ctx.Deadline()
	if ctx.Err() == nil && a.returned.Before(deadline) { // the timer of ctx may be late
		s.Errorf("Acquire gave up before its context had ended: %v", a.err)
	}
	if late := a.returned.Sub(a.asked); late > s.TTL/2+s.Slack {
		s.Errorf("Acquire gave up after %v", late)
	}
}

// cancelledInFlight cancels while the answer is under way. With any outcome of the request, the lock must not stay
// taken.
func cancelledInFlight(s *trial) {
	w := s.wire(0)
	s.acquireRelease(0)
	w.DelayReplies(s.TTL / 16)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	waiter := s.waitingBy(ctx, s.locker(0), 0)
	time.Sleep(s.TTL / 32)
	cancel()
	a := <-waiter
	w.Heal()
	if a.err == nil {
		s.release(a.grant)
	} else {
		s.want("Acquire, cancelled in flight", a.err, context.Canceled)
	}
	s.wantFree(1)
	wantNothingLeft(s)
}

func leaseOutlivesTheContext(s *trial) {
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(s.ctx, key{}, "kept"))
	g, err := s.ask(ctx, s.locker(0), 0)
	cancel()
	if err != nil {
		s.fatal("Acquire", err)
	}
	time.Sleep(s.TTL / 8)
	if err := g.Context().Err(); err != nil && !g.over() {
		s.Errorf("the lease's context has ended with that of Acquire: %v", err)
	}
	if v := g.Context().Value(key{}); v != "kept" {
		s.Errorf("the lease's context has the value %v, want that of Acquire's", v)
	}
	s.wantHeld(g, 1)
	s.release(g)
}

func waitersLeaveNothing(s *trial) {
	for i := range clients {
		s.acquireRelease(i)
	}
	g := s.acquire(0)
	short, cancelShort := s.within(s.TTL / 8)
	defer cancelShort()
	long, cancelLong := context.WithCancel(s.ctx)
	defer cancelLong()
	late := s.waitingBy(short, s.locker(1), 1)
	gone := s.waitingBy(long, s.locker(2), 2)
	wantGivenUp(s, short, g, <-late, context.DeadlineExceeded)
	cancelLong()
	wantGivenUp(s, long, g, <-gone, context.Canceled)
	s.release(g)
	s.wantFree(3) // former waiters do not delay others
	wantNothingLeft(s)
}
