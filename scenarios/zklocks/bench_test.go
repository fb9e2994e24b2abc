package zklocks_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/zklocks"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/zookeeper"
)

// BenchmarkRoundTrip is a set of the unmodified client on one and on three servers, beside a put on etcd and a SET of
// go-redis.
func BenchmarkRoundTrip(b *testing.B) {
	for _, servers := range []int{1, 3} {
		b.Run(fmt.Sprintf("ZooKeeper with %d servers", servers), func(b *testing.B) {
			testruns.BenchCalls(b, zookeeper.Servers{Count: servers}, func(p *sim.Process) func() error {
				c, err := zookeeper.Connect(p, 10*time.Second, nil, "z0")
				if err != nil {
					b.Fatal(err)
				}
				return func() error {
					_, err := c.Set("/", []byte("v"), -1)
					return err
				}
			})
		})
	}
	b.Run("etcd with 3 members", func(b *testing.B) {
		testruns.BenchCalls(b, etcd.Servers{Members: 3}, func(p *sim.Process) func() error {
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
	b.Run("Redis", func(b *testing.B) {
		testruns.BenchCalls(b, redis.Servers{Nodes: 1}, func(p *sim.Process) func() error {
			c := redisclient.New(p, "r0")
			return func() error { return c.Set(p.Context(), "k", "v", 0).Err() }
		})
	})
}

// BenchmarkRun is complete runs of one mode: a pause beyond the lease, on ZooKeeper, on etcd and on Redis.
func BenchmarkRun(b *testing.B) {
	fenced, err := scenarios.Kind("fenced")
	if err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]scenarios.Lock{"zk-session-expiry": zklocks.Lock(),
		"etcd-lease-pause": etcdlocks.Lock(), "gc-pause": fenced} {
		sc, err := scenarios.Load(name, l)
		if err != nil {
			b.Fatal(err)
		}
		testruns.BenchRuns(b, testruns.Pair{Scenario: sc, Lock: l})
	}
}
