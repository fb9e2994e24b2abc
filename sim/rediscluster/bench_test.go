package rediscluster_test

import (
	"context"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
	"locksim/sim/store"
)

// release deletes a lock of its owner.
var release = goredis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`)

// run is one run of two clients that take a lock in turn for 25 s.
func run(tb testing.TB, seed uint64, kind sim.Kind, client func(p *sim.Process) goredis.UniversalClient,
	strike func(w *sim.World) error) {
	tb.Helper()
	cfg := sim.Config{Seed: seed, Clients: 2, Servers: []sim.Kind{kind, store.Server{}}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		for i := range 2 {
			p := w.Client(i)
			p.Go(func() {
				ctx, c := context.Background(), client(p)
				for w.Now() < 25*time.Second {
					if ok, _ := c.SetNX(ctx, "lock", p.Name(), 10*time.Second).Result(); ok {
						time.Sleep(time.Second)
						_ = release.Run(ctx, c, []string{"lock"}, p.Name()).Err()
					}
					time.Sleep(200 * time.Millisecond)
				}
			})
		}
		w.At(5*time.Second, func() {
			if err := strike(w); err != nil {
				tb.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func nothing(*sim.World) error { return nil }

// worlds are those of which the costs are compared.
var worlds = []struct {
	name   string
	kind   func(shared *redis.Reuse) sim.Kind
	client func(p *sim.Process) goredis.UniversalClient
	strike func(w *sim.World) error
}{
	{"single", single, func(p *sim.Process) goredis.UniversalClient { return redisclient.New(p, "r0") }, nothing},
	{"cluster", cluster, quietClient, nothing},
	{"cluster, client's pause", cluster, quietClient, func(w *sim.World) error {
		return w.Faults().Pause("c0", 12*time.Second)
	}},
	{"cluster, a crash", cluster, quietClient, func(w *sim.World) error {
		return w.Faults().Crash(rediscluster.Owner, faults.CrashProcess)
	}},
	{"cluster, as its client comes", cluster, stockClient, nothing},
}

func single(shared *redis.Reuse) sim.Kind { return redis.Servers{Reuse: shared} }

func cluster(shared *redis.Reuse) sim.Kind {
	return rediscluster.Servers{NodeTimeout: 2 * time.Second, Key: "lock", Reuse: shared}
}

func quietClient(p *sim.Process) goredis.UniversalClient {
	opt := redisclient.QuietCluster()
	opt.Addrs = []string{"rc0", "rc1", "rc2"}
	return redisclient.Cluster(p, opt)
}

func stockClient(p *sim.Process) goredis.UniversalClient {
	opt := redisclient.StockCluster()
	opt.Addrs = []string{"rc0", "rc1", "rc2"}
	return redisclient.Cluster(p, opt)
}

// BenchmarkRun is complete runs on a single server, and on a cluster of six nodes.
func BenchmarkRun(b *testing.B) {
	for _, w := range worlds {
		b.Run(w.name, func(b *testing.B) {
			shared := new(redis.Reuse)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				run(b, uint64(i), w.kind(shared), w.client, w.strike)
			}
		})
	}
}
