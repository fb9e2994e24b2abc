package play

import (
	"context"
	"errors"

	"locksim/checker"
	"locksim/scenarios/subject"
	protected "locksim/sim/store"
)

// StoreOver is the protected resource as its client reaches it, over the network
// that the client dials.
func StoreOver(c *protected.Client) subject.Store { return storeOver{c} }

type storeOver struct{ client *protected.Client }

func (s storeOver) Do(ctx context.Context, op checker.Op,
	grant string) (saw string, outcome checker.Outcome, err error) {
	o := protected.Op{Resource: string(op.Resource), Register: op.Register, ID: op.ID, Token: op.Token, Grant: grant,
		Base: op.Saw}
	if op.Kind == checker.Write {
		err = s.client.Write(ctx, o)
	} else {
		saw, err = s.client.Read(ctx, o)
	}
	return saw, outcomeOf(err), err
}

// outcomeOf is the outcome of an operation, as far as its client can know it.
func outcomeOf(err error) checker.Outcome {
	switch {
	case err == nil:
		return checker.OutcomeOK
	case errors.Is(err, protected.ErrRefused):
		return checker.OutcomeRefused
	case errors.Is(err, protected.ErrUnknownOutcome):
		return checker.OutcomeUnknown
	}
	return checker.OutcomeNotSent
}
