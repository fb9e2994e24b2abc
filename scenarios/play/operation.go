package play

import (
	"context"
	"time"

	"locksim/checker"
	"locksim/sim/trace"
)

// finish records the end of an operation, crash or not. ok says that it was
// acknowledged.
func (g *grant) finish(op checker.Op, step trace.Step, cause error) (ok bool, err error) {
	c := g.client
	if c.view.Crashed() {
		op.Outcome = checker.OutcomeUnknown
		g.ops, g.sent = append(g.ops, op), nil
		return false, errCrashed
	}
	c.misanswered(cause)
	m := trace.Mark{Step: step, Op: op.ID}
	if op.Kind == checker.Read {
		m.Saw = op.Saw
	}
	if cause != nil {
		m.Outcome, m.Problem = string(op.Outcome), cause.Error()
	}
	n, err := c.proc.Mark(m)
	switch {
	case err != nil && op.Outcome != checker.OutcomeNotSent:
		op.Outcome = checker.OutcomeUnknown // the answer reached a crashed client
	case err == nil && op.Outcome != checker.OutcomeUnknown:
		op.Returned = n
	}
	g.ops, g.sent = append(g.ops, op), nil
	return op.Outcome == checker.OutcomeOK, err
}

// withDeadline is a context that ends at an instant which the lock can see beforehand, as
// that of a request of a server does.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// hasEnded reports whether a context has ended. A deadline has passed from its instant on,
// for a lock that compares it with the time, though the timer of the context may be due
// later in that instant.
func hasEnded(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline) //nolint:forbidigo // deadlines are by this clock, which is that of the bubble
}

// storeContext limits the wait for the store, if the scenario has a limit.
func (c *client) storeContext() (context.Context, context.CancelFunc) {
	if d := c.play.sc.Workload.Timeout; d > 0 {
		return context.WithTimeout(c.proc.Context(), d)
	}
	return context.WithCancel(c.proc.Context())
}
