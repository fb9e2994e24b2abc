package redis_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// TestDeterminismOfTheNodes shows that replication, failovers, crashes and
// other faults give the same trace, key changes and roles for the same seed,
// with one processor and with two.
func TestDeterminismOfTheNodes(t *testing.T) {
	labels := map[string]bool{}
	for seed := range uint64(seeds(16)) {
		cfg := sim.Config{Seed: seed, Clients: 3, Servers: []sim.Kind{simredis.Servers{
			Nodes: 2, Replicas: 2, Persistence: simredis.Persistences()[seed%4], Snapshot: 3 * time.Second,
			Lag: sim.Latency{Max: 300 * time.Millisecond},
		}}}
		var changes []string
		run := func(processors int) *trace.Trace {
			return onProcessors(t, processors, cfg, func(w *sim.World) error {
				err := troubledNodes(w)
				changes = append(changes, fmt.Sprintf("%+v %+v", w.KeyChanges(), roles(w)))
				for _, e := range w.Trace().Events {
					labels[e.Kind()] = true
				}
				return err
			})
		}
		first := run(1)
		for _, n := range []int{1, 2, 2} {
			if d := trace.Diff(first, run(n)); d != nil {
				t.Fatalf("seed %d, %d processors: %v", seed, n, d)
			}
			if now := changes[len(changes)-1]; now != changes[0] {
				t.Fatalf("seed %d, %d processors: the ground truth differs:\n%s\n%s", seed, n, changes[0], now)
			}
		}
	}
	for _, kind := range []string{"apply", "resync", "expire", "promote", "crash", "restart", "evict", "flush",
		"read-only", "snapshot", "refused"} {
		if !labels[kind] {
			t.Errorf("no run has an event %q: the test is empty", kind)
		}
	}
}

// troubledNodes is a workload with every fault of a node.
func troubledNodes(w *sim.World) error {
	w.WatchKeys("lock", "n", "queue")
	for i := range w.Clients() {
		p := w.Client(i)
		for _, node := range []string{simredis.Primary, "r1"} {
			p.Go(func() { contendOnKeys(p, node) })
		}
	}
	var failed error
	for i, do := range []func() error{
		func() error {
			return w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, For: time.Second})
		},
		func() error { return w.Faults().JumpClock("r0b", 2*time.Second) },
		func() error {
			return faults.Evict{Node: "r0", Policy: faults.EvictAllKeysRandom, Keys: 1}.Apply(w.Faults())
		},
		func() error { return w.Faults().Crash("r1", faults.CrashPower) },
		func() error {
			return w.Faults().Promote(faults.Failover{Old: faults.OldServing, Clients: []string{"c1", "c2"}})
		},
		func() error {
			return errors.Join(w.Faults().Reset("c1", "r0"), w.Faults().Reset("c2", "r0"),
				w.Faults().RefuseWrites("r0a", 300*time.Millisecond))
		},
		func() error { return w.Faults().Restart("r1") },
		func() error { return w.Faults().Promote(faults.Failover{To: "r0b", Old: faults.OldDemoted}) },
		func() error {
			return w.Faults().Cut(faults.Partition{Between: []string{"r0b"}, Bytes: faults.BytesDrop,
				For: 500 * time.Millisecond})
		},
		func() error { return faults.Flush{Node: "r0b", What: faults.FlushScripts}.Apply(w.Faults()) },
		func() error { return w.Faults().Crash("r0b", faults.CrashProcess) },
		func() error { return w.Faults().JumpClock("r0b", -2*time.Second) },
		func() error { return w.Faults().Restart("r0b") },
		func() error { return w.Faults().Promote(faults.Failover{}) },
		func() error { return faults.Flush{Node: "r0a", What: faults.FlushKeys}.Apply(w.Faults()) },
		func() error { return w.Faults().Restart("r0b") },
	} {
		w.At(time.Duration(i+1)*500*time.Millisecond, func() { failed = errors.Join(failed, do()) })
	}
	return errors.Join(w.RunUntil(w.Idle), w.RunUntil(w.Quiet), failed)
}

// contendOnKeys is a client that works on a few keys and ignores errors.
func contendOnKeys(p *sim.Process, node string) {
	opt := redisclient.Quiet()
	opt.Addr, opt.ReadTimeout, opt.DialTimeout = p.Address(node), 200*time.Millisecond, 300*time.Millisecond
	r, ctx := redisclient.With(p, opt), p.Context()
	for round := range 30 {
		ok, err := r.SetNX(ctx, "lock", p.Name(), 400*time.Millisecond).Result()
		mark(p, "%s round %d: %v %v", node, round, ok, err == nil)
		_ = r.Eval(ctx, "redis.call('INCR', 'n') return redis.call('RPUSH', 'queue', ARGV[1])", nil, p.Name()).Err()
		_ = r.Wait(ctx, 1, 50*time.Millisecond).Err()
		tx := r.TxPipeline()
		tx.ZAdd(ctx, "z")
		tx.LPop(ctx, "queue")
		_, _ = tx.Exec(ctx)
		_ = p.Clock().Sleep(ctx, 250*time.Millisecond)
	}
}
