// Package untold has the lease that is wrong on purpose in one way: its holder takes the lock for its own until it
// releases it. Specimens on several servers have it.
package untold

import (
	"context"
	"time"

	"locksim/lock"
)

// lease is a lease without an end.
type lease struct {
	grant lock.Grant
	token uint64
	ctx   context.Context
	end   context.CancelCauseFunc
}

// New returns the lease of a grant. The end of ctx, that of Acquire, does not end it, nor does anything but its
// Release.
func New(ctx context.Context, g lock.Grant, token uint64) lock.Lease {
	held, end := context.WithCancelCause(context.WithoutCancel(ctx))
	return &lease{g, token, held, end}
}

func (l *lease) Token() uint64            { return l.token }
func (l *lease) Until() time.Time         { return time.Time{} }
func (l *lease) Lost() <-chan struct{}    { return nil }
func (l *lease) Context() context.Context { return l.ctx }

func (l *lease) Release(ctx context.Context) error {
	l.end(nil)
	deleted, err := l.grant.Delete(ctx)
	if err == nil && !deleted {
		return lock.ErrNotHeld
	}
	return err
}
