package lock

import (
	"context"
	"sync"
	"time"
)

// lifetime is the validity of a lease for its holder, renewed or not: its end, and the notice of the end. It ends once,
// by loss or by release, and never begins again.
//
// No mutex is held while the clock is read: a clock may answer late.
type lifetime struct {
	clock  Clock
	ctx    context.Context
	cancel context.CancelCauseFunc
	lost   chan struct{}

	mu    sync.Mutex // guards the rest
	until time.Time
	over  bool
	stop  func() bool // stops the timer that checks whether validity has ended; nil before the first
}

// newLifetime starts a lifetime. It keeps the values of ctx, but neither its deadline nor its cancellation.
func newLifetime(ctx context.Context, clock Clock, until time.Time) *lifetime {
	l := &lifetime{clock: clock, lost: make(chan struct{}), until: until}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.arm(until.Sub(clock.Now()))
	return l
}

func (l *lifetime) Lost() <-chan struct{}    { return l.lost }
func (l *lifetime) Context() context.Context { return l.ctx }

func (l *lifetime) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// arm starts a timer that checks after d.
func (l *lifetime) arm(d time.Duration) {
	stop := l.clock.AfterFunc(d, l.check)
	l.mu.Lock()
	l.stop = stop
	over := l.over
	l.mu.Unlock()
	if over {
		stop()
	}
}

// check is the callback of the timer: it ends the lifetime if it has expired, and otherwise waits for the rest. So
// there is one timer at any time, and prolong has none to race with.
func (l *lifetime) check() {
	if left, over := l.left(); !over && left > 0 {
		l.arm(left)
	}
}

// left is the remaining time. When that is zero or less, it ends the lifetime.
func (l *lifetime) left() (left time.Duration, over bool) {
	now := l.clock.Now()
	l.mu.Lock()
	left, over = l.until.Sub(now), l.over
	l.mu.Unlock()
	if over {
		return 0, true
	}
	if left <= 0 {
		l.lose()
		return 0, true
	}
	return left, false
}

// prolong moves the end to until, unless that is earlier. It reports false if the lifetime had ended before: an end
// that the clock has passed is final, even if it was not noticed yet.
func (l *lifetime) prolong(until time.Time) bool {
	if _, over := l.left(); over {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.until) {
		l.until = until
	}
	return !l.over
}

// lose ends the lifetime by loss.
func (l *lifetime) lose() {
	if l.finish(ErrLost) {
		close(l.lost)
	}
}

// finish ends the lifetime. It reports whether it had not ended before.
func (l *lifetime) finish(cause error) bool {
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
