package lock

import (
	"context"
	"sync"
	"time"
)

// life is what a lease is to its holder, whatever keeps it alive: how long it is valid, and the notice
// that it is over. It ends once, by loss or by release, and never begins again.
//
// No mutex is held while the clock is asked: a clock may take its time to answer.
type life struct {
	clock  Clock
	ctx    context.Context
	cancel context.CancelCauseFunc
	lost   chan struct{}

	mu    sync.Mutex // guards the rest
	until time.Time
	over  bool
	stop  func() bool // the timer that looks whether validity has ended; nil until there is one
}

// newLife starts a life. It keeps the values of ctx, and neither its deadline nor its cancellation.
func newLife(ctx context.Context, clock Clock, until time.Time) *life {
	l := &life{clock: clock, lost: make(chan struct{}), until: until}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.arm(until.Sub(clock.Now()))
	return l
}

func (l *life) Lost() <-chan struct{}    { return l.lost }
func (l *life) Context() context.Context { return l.ctx }

func (l *life) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// arm lets the timer look after d.
func (l *life) arm(d time.Duration) {
	stop := l.clock.AfterFunc(d, l.look)
	l.mu.Lock()
	l.stop = stop
	over := l.over
	l.mu.Unlock()
	if over {
		stop()
	}
}

// look is what the timer does: it ends the life when its time is up, and otherwise waits for the rest. So
// there is one timer for the whole life, and prolonging it has none to race with.
func (l *life) look() {
	if left, over := l.left(); !over && left > 0 {
		l.arm(left)
	}
}

// left is how long the life still lasts. When that is nothing, the life is over from now on.
func (l *life) left() (left time.Duration, over bool) {
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

// prolong moves the end of the life to until, unless that is earlier. It reports false when the life was
// over before: an end that the clock has passed stays, even where nobody has noticed it yet.
func (l *life) prolong(until time.Time) bool {
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

// lose ends the life by loss.
func (l *life) lose() {
	if l.finish(ErrLost) {
		close(l.lost)
	}
}

// finish ends the life. It reports whether it has not been over before.
func (l *life) finish(cause error) bool {
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
