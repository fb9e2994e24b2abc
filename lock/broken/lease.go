package broken

import (
	"context"
	"fmt"
	"sync"
	"time"

	"locksim/lock"
)

// lease is a grant of a specimen.
type lease struct {
	claim  claim
	token  uint64
	opt    Options
	free   release
	within func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)

	lost   chan struct{}
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu    sync.Mutex // guards the rest
	until time.Time
	over  bool
	stop  func() bool
}

// newLease returns a lease that free gives back. It has no timer for its end: see endInTime.
func newLease(ctx context.Context, o Options, c claim, until time.Time, free release) *lease {
	l := &lease{claim: c, opt: o, free: free, within: detached, until: until, lost: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return l
}

// detached returns a context that ends after d, and not with ctx (F29).
func detached(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

// endInTime ends the lease by loss at the end of its validity, and no longer at an earlier one that it had. Leases that
// a watchdog renews do not use it: the published watchdogs do not check the clock.
func (l *lease) endInTime() {
	stop := l.opt.Clock.AfterFunc(l.Until().Sub(l.opt.Clock.Now()), l.lose)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
	l.stop = stop
}

func (l *lease) Token() uint64            { return l.token }
func (l *lease) Lost() <-chan struct{}    { return l.lost }
func (l *lease) Context() context.Context { return l.ctx }

func (l *lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// prolong moves the end of the validity.
func (l *lease) prolong(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
}

// lose notifies the holder that the lease is lost.
func (l *lease) lose() {
	if l.finish(lock.ErrLost) {
		close(l.lost)
	}
}

// finish ends the lease. It reports whether it had not ended before.
func (l *lease) finish(cause error) bool {
	l.mu.Lock()
	before, stop := l.over, l.stop
	l.over = true
	l.mu.Unlock()
	if before {
		return false
	}
	if stop != nil {
		stop()
	}
	l.cancel(cause)
	return true
}

// Release implements lock.Lease.
func (l *lease) Release(ctx context.Context) error {
	l.finish(nil)
	ctx, cancel := l.within(ctx, l.opt.ReleaseTimeout)
	defer cancel()
	if err := l.free(ctx, l.claim); err != nil {
		return fmt.Errorf("release %s: %w", l.claim.resource, err)
	}
	return nil
}
