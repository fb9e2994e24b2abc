package play

import (
	"context"
	"errors"

	"locksim/checker"
	protected "locksim/sim/store"
)

// StoreOver is the protected resource behind a client of it, over whatever network
// the client dials.
func StoreOver(c *protected.Client) Store { return storeOver{c} }

type storeOver struct{ client *protected.Client }

func (s storeOver) Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error) {
	o := protected.Op{Resource: op.Resource, Register: op.Register, ID: op.ID, Token: op.Token, Grant: grant, Base: op.Saw}
	if op.Kind == checker.Write {
		err = s.client.Write(ctx, o)
	} else {
		saw, err = s.client.Read(ctx, o)
	}
	return saw, outcomeOf(err), err
}

// outcomeOf is how an operation ended, as far as its client can know.
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
