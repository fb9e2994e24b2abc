package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"locksim/lock"
)

// lease measures a grant. The mutex is not held while the clock is read: a clock may answer late.
type lease struct {
	lock.Lease
	metrics    *Metrics
	since      time.Time
	stopNotice func() bool // cancels the notice of a loss
	leaveOnce  sync.Once

	mu      sync.Mutex // guards the rest
	over    bool       // it is no longer held
	isLost  bool       // it ended by a loss
	unsure  bool       // a release may have worked
	counted bool       // the outcome of the release is known and counted
}

// newLease begins to measure a grant. The result is an Extender if inner is.
func (m *Metrics) newLease(inner lock.Lease) lock.Lease {
	m.held.Inc()
	l := &lease{Lease: inner, metrics: m, since: m.clock.Now()}
	l.stopNotice = context.AfterFunc(inner.Context(), l.onContextEnd)
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
	l.leaveOnce.Do(func() { l.endByRelease(now) })
	err := l.Lease.Release(ctx)
	l.countRelease(err, l.metrics.clock.Now())
	return err
}

func (l *lease) onContextEnd() {
	if l.knownLost() {
		l.end(l.metrics.clock.Now(), true)
	}
}

func (l *lease) knownLost() bool { return errors.Is(context.Cause(l.Context()), lock.ErrLost) }

// endByRelease ends the hold at a release. If the lease is lost by then, that may not be known yet: the notice may be
// under way, and third-party locks give none.
func (l *lease) endByRelease(now time.Time) {
	l.stopNotice()
	left := l.Until().Sub(now)
	if l.end(now, left <= 0 || l.knownLost()) {
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

// countRelease counts the outcome of a release, unless that of an earlier one is known. After a release without an
// answer, ErrNotHeld does not count: that release may have worked.
func (l *lease) countRelease(err error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	explained := l.unsure && errors.Is(err, lock.ErrNotHeld)
	over := l.isLost || !now.Before(l.Until())
	if !l.counted && !explained {
		l.metrics.releases.WithLabelValues(ofRelease(err, over)).Inc()
	}
	l.unsure = l.unsure || errors.Is(err, lock.ErrOutcomeUnknown)
	l.counted = l.counted || err == nil || errors.Is(err, lock.ErrNotHeld)
}

// extender counts the renewals of a lease.
type extender struct {
	metrics *Metrics
	inner   lock.Extender
}

// counting is the context key of the metrics that count a renewal.
type counting struct{}

// Extend implements [lock.Extender].
func (e extender) Extend(ctx context.Context) error {
	if ctx.Value(counting{}) == e.metrics {
		return e.inner.Extend(ctx)
	}
	err := e.inner.Extend(context.WithValue(ctx, counting{}, e.metrics))
	e.metrics.renewals.WithLabelValues(ofRenewal(err)).Inc()
	return err
}

func (m *Metrics) countRenewals(ask acquireFunc) acquireFunc {
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		inner, err := ask(ctx, resource)
		e, ok := inner.(lock.Extender)
		if err != nil || !ok {
			return inner, err
		}
		return struct {
			lock.Lease
			extender
		}{inner, extender{m, e}}, nil
	}
}
