package metrics_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/locktest"
	"locksim/lock/metrics"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// TestConformance runs the suite for locks on a measured lock: it keeps every promise of the lock inside.
func TestConformance(t *testing.T) {
	locktest.Run(t, locktest.Harness{
		TTL: ttl, Slack: time.Second, Tokens: true,
		Fresh: func(t testing.TB, test func(locktest.World)) {
			t.Helper()
			_, err := sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{simredis.Servers{}}, Clients: 4, Untraced: true},
				func(w *sim.World) error {
					admin := w.NewProcess("admin")
					admin.Go(func() {
						test(locktest.World{New: func(t testing.TB, i int) locktest.Client { return client(t, w.Client(i)) }})
					})
					return w.RunUntil(w.Idle)
				})
			if err != nil {
				t.Error(err)
			}
		},
	})
}

// client is a client with a measured lock that has every ability.
func client(t testing.TB, p *sim.Process) locktest.Client {
	t.Helper()
	wire := locktest.NewWire(p.Dial)
	o := redisclient.Quiet()
	o.Addr, o.Dialer = p.Address("r0"), wire.Dial
	c := redis.NewClient(o)
	p.OnEnd(func() { _ = c.Close() })
	inner, err := lock.NewReentrantFenced(c, lock.Options{
		TTL: ttl, Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Rand("lock"),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := measure(t, prometheus.NewRegistry(), metrics.Options{Lock: "orders", Clock: p.Clock()})
	return locktest.Client{Locker: m.Measure(inner), Wire: wire}
}
