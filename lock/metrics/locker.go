package metrics

import (
	"context"

	"locksim/lock"
)

// Measure returns a lock that behaves as l and measures it. It has the abilities of l, [lock.Trier] and [lock.Owned],
// and its leases those of l's leases, [lock.Extender]. The result of As is measured too.
func (m *Metrics) Measure(l lock.Locker) lock.Locker {
	return decorate(l, m.measureAttempt, m.measureWait)
}

// MeasureRenewals returns a lock that behaves as l, for use inside a watchdog: it only counts the renewals of its
// leases. Pass the watchdog to Measure. A renewal that passes both counts once.
func (m *Metrics) MeasureRenewals(l lock.Locker) lock.Locker {
	return decorate(l, m.countRenewals, unchanged)
}

// acquireFunc requests a resource from a lock.
type acquireFunc func(ctx context.Context, resource string) (lock.Lease, error)

// middleware wraps an acquireFunc.
type middleware func(acquireFunc) acquireFunc

// decorate wraps every acquireFunc of a lock in each, and Acquire also in waits.
func decorate(l lock.Locker, each, waits middleware) lock.Locker {
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
	locker struct{ ask acquireFunc }
	tryer  struct{ ask acquireFunc }
	owner  struct {
		inner       lock.Owned
		each, waits middleware
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

func unchanged(ask acquireFunc) acquireFunc { return ask }

func (m *Metrics) measureWait(ask acquireFunc) acquireFunc {
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

// measureAttempt measures the outcome of a request, and the lease.
func (m *Metrics) measureAttempt(ask acquireFunc) acquireFunc {
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
		m.tokens.store(resource, inner.Token())
		return m.newLease(inner), nil
	}
}
