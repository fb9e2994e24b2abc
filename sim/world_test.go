package sim_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// contend is a workload that meets many events of one instant: clients with
// equal sleeps, which all ask every node at once.
func contend(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		p.Go(func() {
			ctx := p.Context()
			r := simredis.Client(p, "r0")
			s := store.NewClient(p)
			for round := range 5 {
				for {
					ok, err := r.SetNX(ctx, "lock", p.Name(), 10*time.Second).Result()
					if err != nil {
						panic(err)
					}
					if ok {
						break
					}
					time.Sleep(50 * time.Millisecond)
				}
				op := store.Op{Resource: "order", Register: "balance", ID: fmt.Sprintf("%s.%d", p.Name(), round)}
				if _, err := s.Read(ctx, op); err != nil {
					panic(err)
				}
				_ = p.Clock().Sleep(ctx, 20*time.Millisecond)
				if err := s.Write(ctx, op); err != nil {
					panic(err)
				}
				if err := r.Eval(ctx, "-- release\nif redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0", []string{"lock"}, p.Name()).Err(); err != nil {
					panic(err)
				}
			}
		})
	}
	return w.RunUntil(w.Idle)
}

// run runs a world, of one Redis server and the store where the config names no
// servers.
func run(t testing.TB, cfg sim.Config, body func(*sim.World) error) *sim.Result {
	t.Helper()
	res, err := sim.Run(served(cfg), body)
	if err != nil {
		t.Fatalf("seed %d: %v", cfg.Seed, err)
	}
	return res
}

// served is the config with one Redis server and the store where it names no
// servers.
func served(cfg sim.Config) sim.Config {
	if cfg.Servers == nil {
		cfg.Servers = []sim.Kind{simredis.Servers{}, store.Server{}}
	}
	return cfg
}

// redisOf is the server r0 of a world.
func redisOf(w *sim.World) *simredis.Server {
	s, err := simredis.On(w, "r0")
	if err != nil {
		panic(err)
	}
	return s
}

// count is the number of events of a kind.
func count(res *sim.Result, kind string) int {
	n := 0
	for _, e := range res.Trace.Events {
		if e.Kind() == kind {
			n++
		}
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	hashes := map[string]bool{}
	for seed := range uint64(20) {
		cfg := sim.Config{Seed: seed, Clients: 3}
		a, b := run(t, cfg, contend), run(t, cfg, contend)
		if d := trace.Diff(a.Trace, b.Trace); d != nil {
			t.Fatalf("seed %d: %v", seed, d)
		}
		hashes[a.Trace.Hash()] = true
	}
	if len(hashes) != 20 {
		t.Errorf("20 seeds gave %d different traces", len(hashes))
	}
}

func BenchmarkContend(b *testing.B) {
	events := 0
	for b.Loop() {
		events += run(b, sim.Config{Seed: 1, Clients: 3}, contend).Events
	}
	b.ReportMetric(float64(events)/float64(b.Elapsed().Seconds()), "events/s")
}
