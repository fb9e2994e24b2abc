package play

import (
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
func (c *client) watchLease(g *grant, known <-chan struct{}) (end func()) {
	stop := make(chan struct{})
	c.proc.Go(func() {
		if c.outlast(g.lease, stop) {
			g.expired.Store(true)
			g.Until = c.proc.Observe(trace.Mark{Step: trace.Until, Resource: g.Resource})
		}
	})
	c.proc.Go(func() {
		select {
		case <-g.lease.Lost():
		case <-stop:
			return
		}
		if c.view.Paused() {
			c.partial.Store(true)
		}
		g.Lost = c.proc.Observe(trace.Mark{Step: trace.Lost, Resource: g.Resource})
		select {
		case <-known:
		case <-stop:
			return
		}
		if n, err := c.proc.Mark(trace.Mark{Step: trace.LostSeen, Resource: g.Resource}); err == nil {
			g.LostSeen = n
			g.lossSeen.Store(true)
		}
	})
	return func() { close(stop) }
}

// isOver reports whether the validity of a lease has ended. A lease whose Until is
// the zero time has no known end.
func isOver(l lock.Lease, now time.Time) bool {
	until := l.Until()
	return !until.IsZero() && !now.Before(until)
}

// outlast waits for the end of a lease's validity, which renewals move. It returns
// false if stop comes first, and if the end is not known.
func (c *client) outlast(l lock.Lease, stop <-chan struct{}) bool {
	until := l.Until()
	if until.IsZero() {
		return false
	}
	for c.view.Until(until, stop) {
		next := l.Until()
		if !next.After(until) {
			return true
		}
		until = next
	}
	return false
}

// isLost reports whether a lock has announced the loss of a lease.
func isLost(l lock.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

// seeRevival looks, at a step of the client, whether the validity of a lease has
// been moved into the future after it had ended.
func (c *client) seeRevival(g *grant, at checker.Pos) {
	if g.Revived == 0 && g.expired.Load() && !isOver(g.lease, c.view.Now()) {
		g.Revived = at
	}
}
