package metrics

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of one lock. It is a [prometheus.Collector]. It is safe for concurrent use.
type Metrics struct {
	clock  clock
	tokens *tokens

	attempts, renewals, lost, releases, rejections *prometheus.CounterVec

	wait, hold, left prometheus.Histogram
	waiters, held    prometheus.Gauge
	decreases        prometheus.Counter

	collectors []prometheus.Collector
}

// New returns the metrics of a lock, registered with r, such as [prometheus.DefaultRegisterer]. The error
// says which option is wrong, or that a lock of the same name is measured there already.
func New(r prometheus.Registerer, o Options) (*Metrics, error) {
	if r == nil {
		return nil, errors.New("make lock metrics: no registerer")
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make lock metrics: %w", err)
	}
	m := newMetrics(o)
	err := r.Register(m)
	if _, twice := errors.AsType[prometheus.AlreadyRegisteredError](err); twice {
		return nil, fmt.Errorf("make lock metrics: a lock %q is measured in this registry already: share its Metrics, or choose another name", o.Lock)
	}
	if err != nil {
		return nil, fmt.Errorf("make lock metrics: register those of lock %q: %w", o.Lock, err)
	}
	return m, nil
}

func newMetrics(o Options) *Metrics {
	f := &factory{labels: prometheus.Labels{"lock": o.Lock}}
	m := &Metrics{
		clock:  o.clock(),
		tokens: newTokens(cmp.Or(o.Resources, DefaultResources)),

		attempts:   f.counters("lock_attempts_total", "Calls of Acquire and TryAcquire by outcome.", "outcome", attemptOutcomes()),
		wait:       f.histogram("lock_wait_seconds", "How long calls of Acquire took, whatever came of them."),
		waiters:    f.gauge("lock_waiters", "Calls of Acquire that have not returned."),
		held:       f.gauge("lock_held", "Leases that are neither released nor lost."),
		hold:       f.histogram("lock_hold_seconds", "Time from the grant to the call of Release, or to the loss of the lease."),
		left:       f.histogram("lock_validity_left_seconds", "How long the lease was still valid when Release was first called, 0 after a loss."),
		renewals:   f.counters("lock_renewals_total", "Renewals of leases by outcome.", "outcome", renewalOutcomes()),
		lost:       f.counters("lock_lost_total", "Leases that ended before they were released, by reason.", "reason", lossReasons()),
		releases:   f.counters("lock_releases_total", "Releases by outcome.", "outcome", releaseOutcomes()),
		decreases:  f.counter("lock_token_decreases_total", "Grants whose fencing token was lower than one that was granted before."),
		rejections: f.counters("lock_fencing_rejections_total", "Operations that a fence refused, by reason.", "reason", rejectionReasons()),
	}
	if o.TTL > 0 {
		f.gauge("lock_ttl_seconds", "How long a lease lasts unless it is renewed or released.").Set(o.TTL.Seconds())
	}
	m.collectors = f.made
	return m
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.collectors {
		c.Describe(to)
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.collectors {
		c.Collect(to)
	}
}
