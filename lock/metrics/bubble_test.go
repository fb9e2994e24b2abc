package metrics_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/metrics"
	"locksim/sim/redis/redisclient"
)

const (
	resource = "order:42"
	ttl      = 10 * time.Second
)

// world is a Redis node in a synctest bubble, and the metrics of a lock on it.
type world struct {
	*testing.T
	*metrics.Metrics
	node     *miniredis.Miniredis
	client   *redis.Client
	registry *prometheus.Registry
}

func bubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		node := miniredis.NewMiniRedis()
		node.ClockTTL(true)
		o := redisclient.Quiet()
		o.Addr = "127.0.0.1:6379"
		o.Dialer = func(context.Context, string, string) (net.Conn, error) { return node.Dial() }
		client := redis.NewClient(o)
		t.Cleanup(func() {
			_ = client.Close()
			node.Close()
			time.Sleep(2 * time.Second) // go-redis dials for another second after failures
		})
		registry := prometheus.NewRegistry()
		test(&world{t, measure(t, registry, metrics.Options{Lock: "orders"}), node, client, registry})
	})
}

// replaceMetrics replaces the metrics.
func (w *world) replaceMetrics(o metrics.Options) {
	w.Helper()
	w.registry = prometheus.NewRegistry()
	w.Metrics = measure(w, w.registry, o)
}

// measure creates metrics in a registry.
func measure(t testing.TB, r prometheus.Registerer, o metrics.Options) *metrics.Metrics {
	t.Helper()
	m, err := metrics.New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (w *world) single() *lock.Single {
	w.Helper()
	l, err := lock.NewSingle(w.client, lock.Options{TTL: ttl})
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// acquire takes the lock within a minute.
func (w *world) acquire(l lock.Locker) lock.Lease {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	lease, err := l.Acquire(ctx, resource)
	if err != nil {
		w.Fatal(err)
	}
	return lease
}

// want fails unless these are all values other than 0.
func (w *world) want(values map[string]float64) {
	w.Helper()
	synctest.Wait()
	if diff := cmp.Diff(values, nonZero(w, w.registry)); diff != "" {
		w.Errorf("values, wanted and got:\n%s", diff)
	}
}

func nonZero(t testing.TB, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	values := gather(t, r)
	for name, value := range values {
		if value == 0 {
			delete(values, name)
		}
	}
	return values
}

// gather returns the values of a registry by name and labels, without the label of the lock. A histogram has a count
// and a sum.
func gather(t testing.TB, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				if label.GetName() != "lock" {
					name += fmt.Sprintf("{%s}", label.GetValue())
				}
			}
			switch {
			case m.GetCounter() != nil:
				values[name] = m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				values[name] = m.GetGauge().GetValue()
			case m.GetHistogram() != nil:
				base := strings.TrimSuffix(name, "_seconds")
				values[base+"_count"] = float64(m.GetHistogram().GetSampleCount())
				values[base+"_sum"] = m.GetHistogram().GetSampleSum()
			}
		}
	}
	return values
}
