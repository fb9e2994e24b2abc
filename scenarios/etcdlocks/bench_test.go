package etcdlocks_test

import (
	"fmt"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// BenchmarkRoundTrip is a put of the unmodified client to one and to three members, beside a SET of go-redis.
func BenchmarkRoundTrip(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprintf("etcd with %d members", members), func(b *testing.B) {
			testruns.BenchCalls(b, etcd.Servers{Members: members}, func(p *sim.Process) func() error {
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
		testruns.BenchCalls(b, redis.Servers{Nodes: 1}, func(p *sim.Process) func() error {
			c := redisclient.New(p, "r0")
			return func() error { return c.Set(p.Context(), "k", "v", 0).Err() }
		})
	})
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
		testruns.BenchRuns(b, testruns.Pair{Scenario: sc, Lock: l})
	}
}
