package metrics

import (
	"cmp"
	_ "embed"
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

// New returns the metrics of a lock, registered with r, such as [prometheus.DefaultRegisterer]. The error says which
// option is wrong, or that r already has a lock of the same name.
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
		return nil, fmt.Errorf("make lock metrics: a lock %q is measured in this registry already: share its Metrics, or "+
			"choose another name", o.Lock)
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

		attempts: f.counters("lock_attempts_total", "Calls of Acquire and TryAcquire by outcome.", "outcome",
			attemptOutcomes()),
		wait:    f.histogram("lock_wait_seconds", "How long calls of Acquire took, with any outcome."),
		waiters: f.gauge("lock_waiters", "Calls of Acquire that have not returned."),
		held:    f.gauge("lock_held", "Leases that are neither released nor lost."),
		hold: f.histogram("lock_hold_seconds", "Time from the grant to the call of Release, or to the loss of the "+
			"lease."),
		left: f.histogram("lock_validity_left_seconds", "How long the lease was still valid when Release was first "+
			"called, 0 after a loss."),
		renewals: f.counters("lock_renewals_total", "Renewals of leases by outcome.", "outcome", renewalOutcomes()),
		lost: f.counters("lock_lost_total", "Leases that ended before they were released, by reason.", "reason",
			lossReasons()),
		releases: f.counters("lock_releases_total", "Releases by outcome.", "outcome", releaseOutcomes()),
		decreases: f.counter("lock_token_decreases_total", "Grants whose fencing token was lower than one that was "+
			"granted before."),
		rejections: f.counters("lock_fencing_rejections_total", "Operations that a fence refused, by reason.", "reason",
			rejectionReasons()),
	}
	if o.TTL > 0 {
		f.gauge("lock_ttl_seconds", "How long a lease lasts unless it is renewed or released.").Set(o.TTL.Seconds())
	}
	m.collectors = f.collectors
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

// factory creates metrics with the label of the lock, and collects them.
type factory struct {
	labels     prometheus.Labels
	collectors []prometheus.Collector
}

// buckets range from a wait of a round trip to a hold of many minutes with a watchdog. The alerts need two of their
// limits: a second, and half of the default TTL.
func buckets() []float64 {
	return []float64{
		0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000,
	}
}

// counters creates one counter for each value of a label. They exist from the start, at 0.
func (f *factory) counters(name, help, label string, values []string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: f.labels}, []string{label})
	for _, value := range values {
		v.WithLabelValues(value)
	}
	f.collectors = append(f.collectors, v)
	return v
}

func (f *factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: f.labels})
	f.collectors = append(f.collectors, c)
	return c
}

func (f *factory) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: f.labels})
	f.collectors = append(f.collectors, g)
	return g
}

func (f *factory) histogram(name, help string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, ConstLabels: f.labels,
		Buckets: buckets()})
	f.collectors = append(f.collectors, h)
	return h
}

//go:embed alerts.yml
var alerts string

// Alerts returns alerts.yml, a file of alert rules for Prometheus on the metrics of this package.
func Alerts() string { return alerts }
