package etcdlocks_test

import (
	"fmt"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/redis"
)

// BenchmarkRoundTrip is a put of the unmodified client to one and to three members, beside a SET of go-redis.
func BenchmarkRoundTrip(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprintf("etcd with %d members", members), func(b *testing.B) {
			inWorld(b, etcd.Servers{Members: members}, func(p *sim.Process) func() error {
				c, err := etcd.Client(p, "e0")
				if err != nil {
					b.Fatal(err)
				}
				return func() error {
					_, err := c.Put(p.Context(), "k", "v")
					return err
				}
			})
		})
	}
	b.Run("Redis", func(b *testing.B) {
		inWorld(b, redis.Servers{Nodes: 1}, func(p *sim.Process) func() error {
			c := redis.Client(p, "r0")
			return func() error { return c.Set(p.Context(), "k", "v", 0).Err() }
		})
	})
}

// inWorld makes a call again and again. The world is made and ended in the time that is measured: inside, a benchmark would
// measure virtual time.
func inWorld(b *testing.B, servers sim.Kind, prepare func(p *sim.Process) (call func() error)) {
	b.Helper()
	cfg := sim.Config{Clients: 1, Servers: []sim.Kind{servers}, Limits: sim.Limits{Virtual: 1 << 62, Events: 1 << 40}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			call := prepare(p)
			for range b.N {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRun is complete runs of one mode: a pause beyond the lease, on etcd and on Redis.
func BenchmarkRun(b *testing.B) {
	fenced, err := scenarios.Kind("fenced")
	if err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]scenarios.Lock{"etcd-lease-pause": etcdlocks.Lock(), "gc-pause": fenced} {
		sc, err := scenarios.Load(name, l)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: uint64(i), Modes: []fence.Mode{fence.None}, Alone: true})
				if err != nil {
					b.Fatal(err)
				}
				if len(o.Modes[0].Trace.Events) == 0 {
					b.Fatal("no events")
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
