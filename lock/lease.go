package lock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// lease is a grant by one node.
type lease struct {
	engine *engine
	claim  claim
	token  uint64
	until  time.Time

	ctx   context.Context
	over  context.CancelCauseFunc
	lost  chan struct{}
	ended atomic.Bool // lost or released, whichever came first
	stop  func() bool // the timer that ends validity

	turn   chan struct{} // one release at a time; a channel, since it is held while a request is in flight
	done   bool          // a release had a conclusive answer, result
	result error
}

// newLease starts the timer of a grant. The lease ends neither with ctx nor with the wait it bounds.
func newLease(ctx context.Context, e *engine, c claim, token uint64, until time.Time) *lease {
	l := &lease{engine: e, claim: c, token: token, until: until,
		lost: make(chan struct{}), turn: make(chan struct{}, 1)}
	l.ctx, l.over = context.WithCancelCause(context.WithoutCancel(ctx))
	l.stop = e.opt.Clock.AfterFunc(until.Sub(e.opt.Clock.Now()), l.lose)
	return l
}

func (l *lease) Token() uint64            { return l.token }
func (l *lease) Until() time.Time         { return l.until }
func (l *lease) Lost() <-chan struct{}    { return l.lost }
func (l *lease) Context() context.Context { return l.ctx }

// lose ends the lease when its validity has passed.
func (l *lease) lose() {
	if l.ended.CompareAndSwap(false, true) {
		l.over(ErrLost)
		close(l.lost)
	}
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
	if l.ended.CompareAndSwap(false, true) {
		l.stop()
		l.over(nil)
	}
	deleted, err := l.engine.delete(ctx, l.claim)
	if err != nil {
		return fmt.Errorf("release %s: %w", l.claim.resource, err)
	}
	l.done = true
	if !deleted {
		l.result = fmt.Errorf("release %s: %w: its key was gone or another's", l.claim.resource, ErrNotHeld)
	}
	return l.result
}
