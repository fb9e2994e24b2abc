package lock

import (
	"context"
	"fmt"
	"time"
)

// keeper is what a lease needs of the lock that granted it.
type keeper interface {
	clock() Clock

	// extend asks once that the claim's grant last for another TTL. held is false when the grant is gone
	// or another's. until is the end of the new validity, counted from the sending.
	extend(ctx context.Context, c claim) (until time.Time, held bool, err error)

	// delete gives the claim's grant back, even when ctx has ended. deleted is false when it was gone or
	// another's.
	delete(ctx context.Context, c claim) (deleted bool, err error)
}

// lease is a grant of a lock.
type lease struct {
	*life
	keeper keeper
	claim  claim
	token  uint64

	turn   chan struct{} // one release at a time; a channel, since it is held while a request is in flight
	done   bool          // a release had a conclusive answer, result
	result error
}

// newLease starts the timer of a grant. The lease ends neither with ctx nor with the wait it bounds.
func newLease(ctx context.Context, k keeper, c claim, token uint64, until time.Time) *lease {
	return &lease{life: newLife(ctx, k.clock(), until), keeper: k, claim: c, token: token, turn: make(chan struct{}, 1)}
}

func (l *lease) Token() uint64 { return l.token }

// Extend implements [Extender]. No request goes out once the lease is over, nor once ctx has ended.
//
// When it returns ErrNotHeld the lease is lost. After any other error it is as valid as before; the key
// may last longer.
func (l *lease) Extend(ctx context.Context) error {
	if err := l.extend(ctx); err != nil {
		return fmt.Errorf("extend %s: %w", l.claim.resource, err)
	}
	return nil
}

func (l *lease) extend(ctx context.Context) error {
	if err := ended(ctx); err != nil {
		return err
	}
	left, over := l.left()
	if over {
		return fmt.Errorf("%w: the lease had ended before", ErrNotHeld)
	}
	ctx, cancel := within(ctx, left) // a later answer is of no use
	defer cancel()
	until, held, err := l.keeper.extend(ctx, l.claim)
	switch {
	case err != nil:
		return err
	case !held:
		l.lose()
		return fmt.Errorf("%w: its key was gone or another's", ErrNotHeld)
	case !l.prolong(until):
		return fmt.Errorf("%w: the lease ended before the answer came", ErrNotHeld)
	}
	return nil
}

// Release gives the lock back by deleting its key if it is still this lease's. It goes on when ctx has
// ended (F29), for at most Options.ReleaseTimeout, and cancels the lease's context first.
//
// The error wraps [ErrNotHeld] when the key was gone or another's, and [ErrOutcomeUnknown] when no
// answer came; after any error but ErrNotHeld the lock may stay taken until its TTL has passed.
//
// Release may be called again: once it has returned nil or ErrNotHeld, every later call returns the
// same; after any other error it tries again.
func (l *lease) Release(ctx context.Context) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.done {
		return l.result
	}
	l.finish(nil)
	deleted, err := l.keeper.delete(ctx, l.claim)
	if err != nil {
		return fmt.Errorf("release %s: %w", l.claim.resource, err)
	}
	l.done = true
	if !deleted {
		l.result = fmt.Errorf("release %s: %w: its key was gone or another's", l.claim.resource, ErrNotHeld)
	}
	return l.result
}
