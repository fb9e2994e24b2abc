package metrics

import (
	"context"

	"locksim/lock"
)

// Measure returns a lock that does what l does, and measures it. It has the abilities of l, [lock.Trier] and
// [lock.Owned], and its leases those of l's leases, [lock.Extender]. What As returns is measured as well.
func (m *Metrics) Measure(l lock.Locker) lock.Locker { return decorate(l, m.measured, m.waits) }

// MeasureRenewals returns a lock that does what l does, for use inside a watchdog: of its leases it counts
// the renewals, and nothing else. The watchdog is given to Measure. A renewal that passes both counts once.
func (m *Metrics) MeasureRenewals(l lock.Locker) lock.Locker { return decorate(l, m.renewing, asItIs) }

// asking asks a lock for a resource.
type asking func(ctx context.Context, resource string) (lock.Lease, error)

// around makes one way of asking out of another.
type around func(asking) asking

// decorate puts each around all asking, and waits around the one that waits.
func decorate(l lock.Locker, each, waits around) lock.Locker {
	plain := locker{waits(each(l.Acquire))}
	trier, tries := l.(lock.Trier)
	owned, has := l.(lock.Owned)
	switch {
	case tries && has:
		return struct {
			locker
			tryer
			owner
		}{plain, tryer{each(trier.TryAcquire)}, owner{owned, each, waits}}
	case tries:
		return struct {
			locker
			tryer
		}{plain, tryer{each(trier.TryAcquire)}}
	case has:
		return struct {
			locker
			owner
		}{plain, owner{owned, each, waits}}
	}
	return plain
}

// locker, tryer and owner are the abilities of a lock.
type (
	locker struct{ ask asking }
	tryer  struct{ ask asking }
	owner  struct {
		inner       lock.Owned
		each, waits around
	}
)

// Acquire implements [lock.Locker].
func (l locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.ask(ctx, resource)
}

// TryAcquire implements [lock.Trier].
func (l tryer) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.ask(ctx, resource)
}

// As implements [lock.Owned].
func (l owner) As(name string) lock.Locker { return decorate(l.inner.As(name), l.each, l.waits) }

func asItIs(ask asking) asking { return ask }

// waits measures the wait.
func (m *Metrics) waits(ask asking) asking {
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		began := m.clock.Now()
		m.waiters.Inc()
		defer func() {
			m.waiters.Dec()
			m.wait.Observe(m.clock.Now().Sub(began).Seconds())
		}()
		return ask(ctx, resource)
	}
}

// measured measures what comes of asking, and the lease.
func (m *Metrics) measured(ask asking) asking {
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		before := m.tokens.highest(resource)
		inner, err := ask(ctx, resource)
		m.attempts.WithLabelValues(ofAttempt(err)).Inc()
		if err != nil {
			return nil, err
		}
		if token := inner.Token(); token != 0 && token < before {
			m.decreases.Inc()
		}
		m.tokens.saw(resource, inner.Token())
		return m.newLease(inner), nil
	}
}
