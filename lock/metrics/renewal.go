package metrics

import (
	"context"

	"locksim/lock"
)

// extender counts the renewals of a lease.
type extender struct {
	metrics *Metrics
	inner   lock.Extender
}

// counting is the key under which a context tells which metrics count the renewal that it is for.
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

// renewing measures the renewals of the leases.
func (m *Metrics) renewing(ask asking) asking {
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
