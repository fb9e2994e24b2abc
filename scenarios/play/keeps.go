package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/lock"
	"locksim/lock/promise"
)

// acquireKey is the key of a value in the context of each Acquire: the id of the grant that it may become.
type acquireKey struct{}

// keeps says that the lock promises what its leases are: see [promise.DutyKeeps].
func (p *play) keeps() bool { return slices.Contains(p.lock.Promise.Duties, promise.DutyKeeps) }

// inspect notes what a new lease has that is not as the lock says.
func (g *grant) inspect() {
	c := g.client
	if !c.play.keeps() {
		return
	}
	switch tokens := c.play.lock.Tokens; {
	case tokens && g.Token == 0:
		g.Unkept = append(g.Unkept, "the lease has no token, although the lock mints tokens")
	case !tokens && g.Token != 0:
		g.Unkept = append(g.Unkept, fmt.Sprintf("the lease has the token %d, although the lock mints none", g.Token))
	}
	if ctx := g.lease.Context(); ctx == nil || ctx.Value(acquireKey{}) != g.id {
		g.Unkept = append(g.Unkept, "the context of the lease lacks the values of the context of Acquire")
	}
}

// caller is a lease of an election that calls back, and says how often it has.
type caller interface{ CalledBack() (started, stopped int) }

// inspectExtension notes that an Extend without an error, which was called at an instant of the client's clock, has not
// made the lease last. A full TTL is more than half of what was left at the grant also after the allowances for drift,
// and for the time that a holder has to stop. A lease without an end says nothing.
func (g *grant) inspectExtension(called time.Time) {
	c := g.client
	until := g.lease.Until()
	if until.IsZero() || g.Left == nil || !c.play.keeps() {
		return
	}
	if half := min(c.play.sc.Lock.TTL, *g.Left) / 2; until.Before(called.Add(half)) {
		g.Unkept = append(g.Unkept, fmt.Sprintf("an Extend returned no error, and its lease ended %v after the call",
			until.Sub(called)))
	}
}

// inspectRelease calls Release again after it had an answer, and notes another answer than the first. A lock that has
// had its answer sends nothing.
func (g *grant) inspectRelease(first error) {
	c := g.client
	if !c.play.keeps() || first != nil && !errors.Is(first, lock.ErrNotHeld) {
		return
	}
	switch again := g.lease.Release(context.WithoutCancel(c.proc.Context())); {
	case first == nil && again != nil:
		g.Unkept = append(g.Unkept, "a Release that was called again failed, although the first had succeeded: "+
			again.Error())
	case first != nil && !errors.Is(again, lock.ErrNotHeld):
		g.Unkept = append(g.Unkept, fmt.Sprintf("a Release that was called again returned %v, although the first had found "+
			"that the lock was not held", again))
	}
}
