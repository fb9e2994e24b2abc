package sim_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// Workloads for the tests of the kernel and of its servers.
var (
	run, served, onProcessors, seeds, must = testworld.Run, testworld.Served, testworld.RunOn, testworld.Seeds,
		testworld.Must
	redisOf, mark, count               = testworld.Redis, testworld.Mark, testworld.Count
	dial, mustWrite, readErr, writeErr = testworld.Dial, testworld.MustWrite, testworld.ReadError, testworld.WriteError
)

// contend is a workload with many events of one instant: clients with equal
// sleeps, which all send a request to every node at once.
func contend(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		p.Go(func() {
			ctx := p.Context()
			r := redisclient.New(p, "r0")
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
				if err := r.Eval(ctx, "-- release\nif redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', "+
					"KEYS[1]) end return 0", []string{"lock"}, p.Name()).Err(); err != nil {
					panic(err)
				}
			}
		})
	}
	return w.RunUntil(w.Idle)
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

// A run leaves nothing to the next one: its trace is the same after a longer run, and a later run does not change it.
func TestRunsAreSeparate(t *testing.T) {
	short, long := sim.Config{Seed: 7}, sim.Config{Seed: 8, Clients: 5}
	first := run(t, short, contend).Trace
	before := first.Hash()
	second := run(t, long, contend).Trace
	again := run(t, short, contend).Trace
	if d := trace.Diff(first, again); d != nil {
		t.Errorf("the run after the long one differs: %v", d)
	}
	if first.Hash() != before || second.Len() <= first.Len() {
		t.Errorf("a later run has changed a trace, or the second is no longer: %d and %d events", first.Len(), second.Len())
	}
}

func BenchmarkContend(b *testing.B) {
	events := 0
	for b.Loop() {
		events += run(b, sim.Config{Seed: 1, Clients: 3}, contend).Events
	}
	b.ReportMetric(float64(events)/float64(b.Elapsed().Seconds()), "events/s")
}
