package metrics_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/metrics"
)

// node starts an in-process Redis for the examples.
func node() (client *redis.Client, stop func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	client = redis.NewClient(&redis.Options{
		Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
	return client, func() { _ = client.Close(); server.Close() }
}

func Example() {
	client, stop := node()
	defer stop()
	fenced, err := lock.NewFenced(client, lock.Options{TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	m, err := metrics.New(registry, metrics.Options{Lock: "orders", TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	locks := m.Measure(fenced)

	ctx := context.Background()
	lease, err := locks.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	show(registry, "lock_held")
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	show(registry, "lock_held", "lock_releases_total")
	// Output:
	// lock_held lock=orders: 1
	// lock_held lock=orders: 0
	// lock_releases_total lock=orders outcome=released: 1
}

// A watchdog renews its leases unseen from outside: the renewals are measured inside it.
func ExampleMetrics_MeasureRenewals() {
	client, stop := node()
	defer stop()
	const ttl = 300 * time.Millisecond
	single, err := lock.NewSingle(client, lock.Options{TTL: ttl})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	m, err := metrics.New(registry, metrics.Options{Lock: "reports"})
	if err != nil {
		log.Fatal(err)
	}
	dog, err := lock.NewWatchdog(m.MeasureRenewals(single), lock.WatchdogOptions{TTL: ttl})
	if err != nil {
		log.Fatal(err)
	}
	locks := m.Measure(dog)

	ctx := context.Background()
	lease, err := locks.Acquire(ctx, "report:2024")
	if err != nil {
		log.Fatal(err)
	}
	if err := lease.(lock.Extender).Extend(ctx); err != nil { // the watchdog does the same, every 100 ms
		log.Fatal(err)
	}
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	show(registry, "lock_renewals_total")
	// Output:
	// lock_renewals_total lock=reports outcome=renewed: 1
}

// show prints the metrics of some names, without the counters that are 0.
func show(r prometheus.Gatherer, names ...string) {
	families, err := r.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		for _, family := range families {
			if family.GetName() != name {
				continue
			}
			for _, m := range family.GetMetric() {
				value := m.GetGauge().GetValue() + m.GetCounter().GetValue()
				if value == 0 && m.GetCounter() != nil {
					continue
				}
				text := name
				for _, label := range m.GetLabel() {
					text += " " + label.GetName() + "=" + label.GetValue()
				}
				fmt.Printf("%s: %v\n", text, value)
			}
		}
	}
}
