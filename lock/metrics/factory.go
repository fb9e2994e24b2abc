package metrics

import "github.com/prometheus/client_golang/prometheus"

// factory makes metrics with the label of the lock, and keeps them.
type factory struct {
	labels prometheus.Labels
	made   []prometheus.Collector
}

// buckets span a wait of a round trip, and a hold of many minutes under a watchdog. A second is among their
// limits, and half of the default TTL: the alerts ask for those.
func buckets() []float64 {
	return []float64{
		0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000,
	}
}

// counters makes one counter for each value of a label. They are there from the start, at 0.
func (f *factory) counters(name, help, label string, values []string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: f.labels}, []string{label})
	for _, value := range values {
		v.WithLabelValues(value)
	}
	f.made = append(f.made, v)
	return v
}

func (f *factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: f.labels})
	f.made = append(f.made, c)
	return c
}

func (f *factory) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: f.labels})
	f.made = append(f.made, g)
	return g
}

func (f *factory) histogram(name, help string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, ConstLabels: f.labels, Buckets: buckets()})
	f.made = append(f.made, h)
	return h
}
