package rediscluster_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
	"locksim/sim/store"
)

// quick is a cluster with a node timeout of a second.
var quick = rediscluster.Servers{NodeTimeout: time.Second, Key: "lock"}

// world is a cluster and two clients.
func world(seed uint64, c rediscluster.Servers) sim.Config {
	return sim.Config{Seed: seed, Clients: 2, Servers: []sim.Kind{c, store.Server{}},
		Latency: sim.Latency{Min: time.Millisecond, Max: 5 * time.Millisecond}}
}

// clusterClient is a client as a user makes it, with a dialer.
func clusterClient(p *sim.Process) *goredis.ClusterClient {
	return goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{p.Address("rc0"), p.Address("rc1")},
		Dialer: p.Dial})
}

// events are what the nodes did on their own, as lines.
func events(res *sim.Result, kinds ...string) []string {
	var out []string
	for _, e := range res.Trace.Events {
		for _, k := range kinds {
			if e.Kind() == k {
				out = append(out, fmt.Sprintf("%.3fs %s: %s", e.At.Seconds(), e.Actor, e.Text()))
			}
		}
	}
	return out
}

// A lock is taken, held through the crash of its primary, and released. The client finds the new primary by itself,
// when its map is a minute old: go-redis 9.23.0 dials the dead one until then, also real ones (see
// TestLiveDeadPrimary).
func TestClientFollowsACrash(t *testing.T) {
	res := testworld.Run(t, world(1, quick), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx := context.Background()
			c := clusterClient(p)
			defer c.Close() //nolint:errcheck // the run is over
			if ok, err := c.SetNX(ctx, "lock", "c0", 2*time.Minute).Result(); !ok || err != nil {
				t.Errorf("the lock is not free: %v, %v", ok, err)
			}
			time.Sleep(6 * time.Second)
			if err := c.Get(ctx, "lock").Err(); err == nil || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("with its old map the client gets %v", err)
			}
			time.Sleep(53 * time.Second) // the next command asks for a new map
			for w.Now() < 64*time.Second && c.Get(ctx, "lock").Err() != nil {
				time.Sleep(100 * time.Millisecond)
			}
			if got, err := c.Get(ctx, "lock").Result(); got != "c0" || err != nil {
				t.Errorf("after the failover the key is %q, %v", got, err)
			}
			if n, err := release.Run(ctx, c, []string{"lock"}, "c0").Int(); n != 1 || err != nil {
				t.Errorf("it is released: %d, %v", n, err)
			}
		})
		w.At(1200*time.Millisecond, func() { testworld.Must(t, w.Faults().Crash(rediscluster.Owner, faults.CrashProcess)) })
		return w.RunUntil(w.Idle)
	})
	told := strings.Join(events(res, "cluster", "replica-of", "crash"), "\n")
	t.Log("\n" + told)
	if !strings.Contains(told, "rc4: primary, with") {
		t.Error("rc4 has not taken over")
	}
}

// throughTrouble is two clients that take a lock in turn while a fault strikes.
func throughTrouble(strike func(w *sim.World) error) func(w *sim.World) error {
	return func(w *sim.World) error {
		for i := range 2 {
			p := w.Client(i)
			p.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // both draw from math/rand
				opt := redisclient.StockCluster()
				opt.Addrs, opt.ClusterStateReloadInterval = []string{"rc0", "rc1"}, time.Second
				c := redisclient.Cluster(p, opt)
				for n := range 10 {
					ok, err := c.SetNX(context.Background(), "lock", p.Name(), 700*time.Millisecond).Result()
					testworld.Mark(p, "%d: %v %v", n, ok, err)
					time.Sleep(900 * time.Millisecond)
				}
			})
		}
		w.At(1200*time.Millisecond, func() { _ = strike(w) })
		return w.RunUntil(w.Idle)
	}
}

// others are all nodes but one.
func others(name string) (out []string) {
	for i := range 6 {
		if n := fmt.Sprint("rc", i); n != name {
			out = append(out, n)
		}
	}
	return out
}

// alone cuts a node off from the other nodes.
func alone(name string, d time.Duration, bytes faults.Bytes) func(w *sim.World) error {
	return func(w *sim.World) error {
		return w.Faults().Cut(faults.Partition{Between: []string{name}, And: others(name), For: d, Bytes: bytes,
			Direction: faults.DirectionBoth})
	}
}

// strikes are the troubles of the tests, by name.
var strikes = map[string]func(w *sim.World) error{
	"none":  func(*sim.World) error { return nil },
	"crash": func(w *sim.World) error { return w.Faults().Crash("rc1", faults.CrashProcess) },
	"power": func(w *sim.World) error { return w.Faults().Crash("rc1", faults.CrashPower) },
	"cut":   alone("rc1", 4*time.Second, faults.BytesDrop),
	"held":  alone("rc1", 4*time.Second, faults.BytesHold),
	"stall": func(w *sim.World) error { return w.Faults().Stall("rc1", 4*time.Second) },
	"clock": func(w *sim.World) error { return w.Faults().JumpClock("rc1", time.Hour) },
	"restart": func(w *sim.World) error {
		w.At(1300*time.Millisecond, func() { _ = w.Faults().Restart("rc1") })
		return w.Faults().Crash("rc1", faults.CrashProcess)
	},
	"late restart": func(w *sim.World) error {
		w.At(5*time.Second, func() { _ = w.Faults().Restart("rc1") })
		return w.Faults().Crash("rc1", faults.CrashProcess)
	},
}

// Every run of a seed is equal, on one processor and on two. With LOCKSIM_SOAK=1 it is a hundred runs of each trouble.
func TestRunsAreEqual(t *testing.T) {
	repeats := testworld.Seeds(20)
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		repeats = 100
	}
	for name, strike := range strikes {
		t.Run(name, func(t *testing.T) {
			var first string
			for i := range repeats {
				tr := testworld.RunOn(t, 1+i%2, world(3, quick), throughTrouble(strike))
				if got := tr.Hash(); first == "" {
					first = got
				} else if got != first {
					t.Fatalf("repeat %d differs", i)
				}
			}
		})
	}
}
