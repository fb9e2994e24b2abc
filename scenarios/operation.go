package scenarios

import (
	"context"
	"errors"
	"fmt"

	"locksim/checker"
	"locksim/sim"
)

// finish records the end of an operation, crash or not. ok says that it was
// acknowledged.
func (c *client) finish(g *grant, op checker.Op, event string, cause error) (ok bool, err error) {
	op.Outcome = outcomeOf(cause)
	if c.proc.Crashed() {
		op.Outcome = checker.OutcomeUnknown
		g.ops = append(g.ops, op)
		return false, sim.ErrCrashed
	}
	n, err := c.proc.Mark(event, describeOp(op, cause))
	switch {
	case err != nil && op.Outcome != checker.OutcomeNotSent:
		op.Outcome = checker.OutcomeUnknown // the answer came to somebody who is no more
	case err == nil && op.Outcome != checker.OutcomeUnknown:
		op.Returned = checker.Pos(n)
	}
	g.ops = append(g.ops, op)
	return op.Outcome == checker.OutcomeOK, err
}

func outcomeOf(err error) checker.Outcome {
	switch {
	case err == nil:
		return checker.OutcomeOK
	case errors.Is(err, sim.ErrRefused):
		return checker.OutcomeRefused
	case errors.Is(err, sim.ErrUnknownOutcome):
		return checker.OutcomeUnknown
	}
	return checker.OutcomeNotSent
}

func describeOp(op checker.Op, cause error) string {
	switch {
	case cause != nil:
		return fmt.Sprintf("%s %s: %v", op.ID, op.Outcome, cause)
	case op.Kind == checker.Read:
		return fmt.Sprintf("%s found %s", op.ID, orNothing(op.Saw))
	}
	return op.ID
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}

func storeOp(g *grant, op checker.Op) sim.StoreOp {
	return sim.StoreOp{Resource: op.Resource, Register: op.Register, ID: op.ID, Token: op.Token, Grant: g.id, Base: op.Saw}
}

// storeContext bounds the wait for the store, where the scenario says so.
func (c *client) storeContext() (context.Context, context.CancelFunc) {
	if d := c.play.sc.Workload.Timeout; d > 0 {
		return context.WithTimeout(c.proc.Context(), d)
	}
	return context.WithCancel(c.proc.Context())
}
