package metrics_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"locksim/lock/metrics"
)

// TestSeriesExistFromTheStart: an alert on the first increase of a counter needs the 0 before it.
func TestSeriesExistFromTheStart(t *testing.T) {
	r := prometheus.NewRegistry()
	measure(t, r, metrics.Options{Lock: "orders", TTL: ttl})
	want := map[string]float64{
		"lock_attempts_total{granted}": 0, "lock_attempts_total{taken}": 0, "lock_attempts_total{timeout}": 0,
		"lock_attempts_total{cancelled}": 0, "lock_attempts_total{no_quorum}": 0, "lock_attempts_total{unknown}": 0,
		"lock_attempts_total{error}": 0,
		"lock_wait_count":            0, "lock_wait_sum": 0, "lock_waiters": 0,
		"lock_held": 0, "lock_hold_count": 0, "lock_hold_sum": 0,
		"lock_validity_left_count": 0, "lock_validity_left_sum": 0,
		"lock_renewals_total{renewed}": 0, "lock_renewals_total{not_held}": 0, "lock_renewals_total{limit}": 0,
		"lock_renewals_total{unknown}": 0, "lock_renewals_total{error}": 0,
		"lock_lost_total{expired}": 0, "lock_lost_total{gone}": 0,
		"lock_releases_total{released}": 0, "lock_releases_total{lost}": 0, "lock_releases_total{not_owner}": 0,
		"lock_releases_total{unknown}": 0, "lock_releases_total{error}": 0,
		"lock_token_decreases_total":           0,
		"lock_fencing_rejections_total{stale}": 0, "lock_fencing_rejections_total{no_grant}": 0,
		"lock_ttl_seconds": 10,
	}
	if diff := cmp.Diff(want, gather(t, r)); diff != "" {
		t.Errorf("series, wanted and got:\n%s", diff)
	}
}

func TestLocksShareARegistry(t *testing.T) {
	r := prometheus.NewRegistry()
	measure(t, r, metrics.Options{Lock: "orders", TTL: ttl})
	measure(t, r, metrics.Options{Lock: "invoices", TTL: 2 * ttl})
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	locks := map[string]bool{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "lock" {
					locks[label.GetValue()] = true
				}
			}
		}
	}
	if want := map[string]bool{"orders": true, "invoices": true}; !cmp.Equal(locks, want) {
		t.Errorf("locks %v, want %v", locks, want)
	}
}

func TestNewRefuses(t *testing.T) {
	full := prometheus.NewRegistry()
	measure(t, full, metrics.Options{Lock: "orders"})
	odd := prometheus.NewRegistry()
	if err := odd.Register(prometheus.NewGauge(prometheus.GaugeOpts{Name: "lock_held",
		Help: "Of another collector."})); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		registry prometheus.Registerer
		options  metrics.Options
		want     string
	}{
		{"no registerer", nil, metrics.Options{Lock: "orders"}, "no registerer"},
		{"no name", prometheus.NewRegistry(), metrics.Options{}, "give the lock a name"},
		{"a name that is not UTF-8", prometheus.NewRegistry(), metrics.Options{Lock: "\xff"}, "UTF-8"},
		{"a negative TTL", prometheus.NewRegistry(), metrics.Options{Lock: "orders", TTL: -1}, "TTL -1ns is negative"},
		{"negative resources", prometheus.NewRegistry(), metrics.Options{Lock: "orders", Resources: -1},
			"Resources, -1, is negative"},
		{"the same name again", full, metrics.Options{Lock: "orders"}, `"orders" is measured in this registry already`},
		{"a name of another collector", odd, metrics.Options{Lock: "orders"}, "lock_held"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := metrics.New(c.registry, c.options)
			if m != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New returned %v and error %v, want an error with %q", m, err, c.want)
			}
		})
	}
}
