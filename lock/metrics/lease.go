package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"locksim/lock"
)

// lease measures what becomes of a grant. No mutex is held while the clock is asked: a clock may take its
// time to answer.
type lease struct {
	lock.Lease
	metrics *Metrics
	since   time.Time
	forget  func() bool // the notice of a loss
	leaving sync.Once

	mu      sync.Mutex // guards the rest
	over    bool       // it is not held any more
	isLost  bool       // and that by a loss
	unsure  bool       // a release may have worked
	settled bool       // the outcome of the release is known, and counted
}

// newLease begins to measure a grant. What it returns can be extended if inner can.
func (m *Metrics) newLease(inner lock.Lease) lock.Lease {
	m.held.Inc()
	l := &lease{Lease: inner, metrics: m, since: m.clock.Now()}
	l.forget = context.AfterFunc(inner.Context(), l.notice)
	if e, ok := inner.(lock.Extender); ok {
		return struct {
			*lease
			extender
		}{l, extender{m, e}}
	}
	return l
}

// Release implements [lock.Lease].
func (l *lease) Release(ctx context.Context) error {
	now := l.metrics.clock.Now()
	l.leaving.Do(func() { l.leave(now) })
	err := l.Lease.Release(ctx)
	l.settle(err, l.metrics.clock.Now())
	return err
}

// notice is called when the lease's context has ended.
func (l *lease) notice() {
	if l.toldOfLoss() {
		l.end(l.metrics.clock.Now(), true)
	}
}

func (l *lease) toldOfLoss() bool { return errors.Is(context.Cause(l.Context()), lock.ErrLost) }

// leave ends the hold because the holder gives it up. If the lease is lost by then, nobody may have said so
// yet: the notice may be on its way, and other people's locks give none.
func (l *lease) leave(now time.Time) {
	l.forget()
	left := l.Until().Sub(now)
	if l.end(now, left <= 0 || l.toldOfLoss()) {
		left = 0
	}
	l.metrics.left.Observe(max(left, 0).Seconds())
}

// end ends the hold, if it has not ended before. It reports whether that was by a loss.
func (l *lease) end(now time.Time, loss bool) (isLost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return l.isLost
	}
	l.over, l.isLost = true, loss
	l.metrics.held.Dec()
	l.metrics.hold.Observe(now.Sub(l.since).Seconds())
	if loss {
		l.metrics.lost.WithLabelValues(ofLoss(now, l.Until())).Inc()
	}
	return loss
}

// settle counts what came of a release, unless an earlier one has settled that. After one without an answer
// it means nothing that the lease is not held: that release may have worked.
func (l *lease) settle(err error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	explained := l.unsure && errors.Is(err, lock.ErrNotHeld)
	over := l.isLost || !now.Before(l.Until())
	if !l.settled && !explained {
		l.metrics.releases.WithLabelValues(ofRelease(err, over)).Inc()
	}
	l.unsure = l.unsure || errors.Is(err, lock.ErrOutcomeUnknown)
	l.settled = l.settled || err == nil || errors.Is(err, lock.ErrNotHeld)
}
