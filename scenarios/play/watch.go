package play

import (
	"time"

	"locksim/lock"
	"locksim/sim/trace"
)

// watchLease records, until the function that it returns is called, when the lease's
// validity ends on the holder's clock, when the lock says that it is lost, and
// when the client hears of it. The first two are seen even while the process is
// paused; the third passes the gate, as the client's own goroutine would have to,
// and comes after the client has learned of the grant itself, when known is closed.
func (c *client) watchLease(g *grant, known <-chan struct{}) (end func()) {
	stop := make(chan struct{})
	c.proc.Go(func() {
		if c.outlast(g.lease, stop) {
			g.Until = c.proc.Observe(trace.Mark{Step: trace.Until, Resource: resource})
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
		g.Lost = c.proc.Observe(trace.Mark{Step: trace.Lost, Resource: resource})
		select {
		case <-known:
		case <-stop:
			return
		}
		if n, err := c.proc.Mark(trace.Mark{Step: trace.LostSeen, Resource: resource}); err == nil {
			g.LostSeen = n
			g.heard.Store(true)
		}
	})
	return func() { close(stop) }
}

// isOver reports whether the validity of a lease has ended. A lease whose Until
// is the zero time does not say when.
func isOver(l lock.Lease, now time.Time) bool {
	until := l.Until()
	return !until.IsZero() && !now.Before(until)
}

// outlast waits for the end of a lease's validity, which renewals move. It
// returns false when stop comes first, and when the lease does not say.
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
