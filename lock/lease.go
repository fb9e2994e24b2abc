package lock

import (
	"context"
	"fmt"
	"time"
)

// granter is what a lease needs of the lock that granted it.
type granter interface {
	clock() Clock

	// extend renews the claim's grant for another TTL, with one request. held is false when the grant has ended or is
	// another's. until is the end of the new validity, counted from the sending.
	extend(ctx context.Context, c claim) (until time.Time, held bool, err error)

	// delete gives the claim's grant back, even when ctx has ended. deleted is false when it had ended or was
	// another's.
	delete(ctx context.Context, c claim) (deleted bool, err error)
}

// lease is a grant of a lock.
type lease struct {
	*lifetime
	granter granter
	claim   claim
	token   uint64

	releasing chan struct{} // allows one release at a time; a channel, since it is held while a request is in flight
	done      bool          // a release has had a conclusive answer, result
	result    error
}

// newLease starts the timer of a grant. The end of ctx does not end the lease.
func newLease(ctx context.Context, k granter, c claim, token uint64, until time.Time) *lease {
	return &lease{lifetime: newLifetime(ctx, k.clock(), until), granter: k, claim: c, token: token, releasing: make(chan struct{}, 1)}
}

func (l *lease) Token() uint64 { return l.token }

// Extend implements [Extender]. It sends no request after the end of the lease or of ctx.
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
	until, held, err := l.granter.extend(ctx, l.claim)
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
// The error wraps [ErrNotHeld] when the key was gone or another's, and [ErrOutcomeUnknown] when no answer arrived;
// after any error but ErrNotHeld the lock may stay taken until its TTL has passed.
//
// Release may be called again: once it has returned nil or ErrNotHeld, every later call returns the
// same; after any other error it tries again.
func (l *lease) Release(ctx context.Context) error {
	l.releasing <- struct{}{}
	defer func() { <-l.releasing }()
	if l.done {
		return l.result
	}
	l.finish(nil)
	deleted, err := l.granter.delete(ctx, l.claim)
	if err != nil {
		return fmt.Errorf("release %s: %w", l.claim.resource, err)
	}
	l.done = true
	if !deleted {
		l.result = fmt.Errorf("release %s: %w: its key was gone or another's", l.claim.resource, ErrNotHeld)
	}
	return l.result
}

// An Extender is a [Lease] that can be renewed. The leases of all kinds of this package are. It is found
// by type assertion:
//
//	err := lease.(lock.Extender).Extend(ctx)
//
// A [Watchdog] does it periodically.
type Extender interface {
	// Extend makes the lease last for a full TTL from the sending of this request, and moves Until. It sends once. It
	// renews only the grant of this lease: it never creates a key, and never changes another owner's (F04, F05).
	//
	// Its error wraps [ErrNotHeld] when the lease has ended, and [ErrOutcomeUnknown] when no answer arrived.
	Extend(ctx context.Context) error
}

// extendKey makes the claim's key last for ttl from now on, if it is still the claim's.
func extendKey(ctx context.Context, r Redis, c claim, ttl time.Duration) (held bool, err error) {
	return owned(extendScript.Run(ctx, r, []string{c.key}, c.owner, ttl.Milliseconds()))
}

// deleteKey removes the claim's key, if it is still the claim's, and notifies the waiters.
func deleteKey(ctx context.Context, r Redis, c claim) (deleted bool, err error) {
	return owned(releaseScript.Run(ctx, r, []string{c.key}, c.owner, releasedChannel(c)))
}
