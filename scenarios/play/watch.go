package play

import (
	"context"
	"errors"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/sim/trace"
)

// watchLease records, until the function that it returns is called, when the
// lease's validity ends on the holder's clock, when the lock reports its loss, and
// when the client learns of it. The first two are observed even while the process
// is paused. The third is a mark, which waits for the end of a pause as the
// client's own goroutine would have to, and comes after the client has learned of
// the grant itself, when known is closed.
func (g *grant) watchLease(known <-chan struct{}) (end func()) {
	c := g.client
	stop := make(chan struct{})
	c.proc.Go(func() {
		if c.outlast(g.lease, stop) {
			g.Until = c.proc.Observe(trace.Mark{Step: trace.Until, Resource: string(g.Resource)})
			g.expired.Store(true) // after the event, so that a revival has a later one
		}
	})
	c.proc.Go(func() {
		select {
		case _, sent := <-g.lease.Lost():
			if sent {
				c.proc.Go(func() { g.countValues(stop) })
			}
		case <-stop:
			return
		}
		if c.view.Paused() {
			c.partial.Store(true)
		}
		g.Lost = c.proc.Observe(trace.Mark{Step: trace.Lost, Resource: string(g.Resource)})
		select {
		case <-known:
		case <-stop:
			return
		}
		if n, err := c.proc.Mark(trace.Mark{Step: trace.LostSeen, Resource: string(g.Resource)}); err == nil {
			g.LostSeen = n
			g.lossSeen.Store(true)
		}
	})
	return func() { close(stop) }
}

// countValues counts the values of Lost until stop: one was received.
func (g *grant) countValues(stop <-chan struct{}) {
	for sent := true; sent; {
		g.values.Add(1)
		select {
		case _, sent = <-g.lease.Lost():
		case <-stop:
			return
		}
	}
}

// isOver reports whether the validity of a lease has ended. A lease whose Until is
// the zero time has no known end.
func isOver(l lock.Lease, now time.Time) bool {
	until := l.Until()
	return !until.IsZero() && !now.Before(until)
}

// until is until when a lease lasts, as it says also while its client is paused.
func (c *client) until(l lock.Lease) (t time.Time) {
	c.view.Look(func() { t = l.Until() })
	return t
}

// outlast waits for the end of a lease's validity, which renewals move. It returns
// false if stop comes first, and if the end is not known.
func (c *client) outlast(l lock.Lease, stop <-chan struct{}) bool {
	until := c.until(l)
	if until.IsZero() {
		return false
	}
	for c.view.Until(until, stop) {
		next := c.until(l)
		if !next.After(until) {
			return true
		}
		until = next
	}
	return false
}

// isLost reports whether a lock has announced the loss of a lease: by Lost, or by the
// end of its context.
func (g *grant) isLost() bool {
	select {
	case _, sent := <-g.lease.Lost():
		if sent {
			g.values.Add(1)
		}
		return true
	default:
		ctx := g.lease.Context()
		return ctx != nil && errors.Is(context.Cause(ctx), lock.ErrLost)
	}
}

// step records a mark of a client that has the lock. It also finds out when the
// validity of the lease was moved into the future again after it had ended.
//
// The client looks before and after the mark, in which it may be paused. What holds
// before the mark holds at its position. What holds only after it began to hold during
// the mark or after the pause, when others may have been granted the lock: that has a position of its own.
func (g *grant) step(m trace.Mark) (checker.Pos, error) {
	c := g.client
	before := g.holdsAgain()
	n, err := c.proc.Mark(m)
	switch {
	case err != nil || g.Revived != 0 || !g.holdsAgain():
	case before:
		g.Revived = n
	default:
		g.Revived = c.proc.Observe(trace.Mark{Step: trace.Revived, Resource: string(g.Resource)})
	}
	return n, err
}

// holdsAgain reports whether a lease is valid whose validity had ended.
func (g *grant) holdsAgain() bool {
	return g.expired.Load() && !isOver(g.lease, g.client.view.Now())
}
