package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// struck are worlds in which a fault begins 50 ms after three clients have
// started work, with the kind of its event in the trace.
var struck = []struct {
	kind   string
	client func(p *sim.Process) *redis.Client
	action faults.Action
}{
	{"slow", quiet, faults.Slow{Process: "c0", By: 20 * time.Millisecond, For: 300 * time.Millisecond}},
	{"clock-jump", quiet, faults.ClockJump{Clock: "r0", By: -time.Second}},
	{"clock-drift", quiet, faults.ClockDrift{Clock: "c0", PPM: 1_000_000, For: 300 * time.Millisecond}},
	{"clock-drift", quiet, faults.ClockFreeze{Clock: "c0", For: 300 * time.Millisecond}},
	{"toxic", quiet, faults.Latency{Between: []string{"c0", "c1"}, Jitter: 30 * time.Millisecond,
		For: 300 * time.Millisecond}},
	{"toxic", quiet, faults.Bandwidth{Between: []string{"r0"}, Rate: 1, For: 300 * time.Millisecond}},
	{"toxic", quiet, faults.Slice{Between: []string{"c0"}, Size: 7, Delay: time.Millisecond, For: 300 * time.Millisecond}},
	{"toxic", quiet, faults.SlowClose{Between: []string{"c0"}, Delay: 100 * time.Millisecond}},
	{"toxic", quiet, faults.LoseReply{Between: []string{"c0", "c1"}, And: []string{"r0"}, Count: 2}},
	{"toxic", stock, faults.LoseReply{Between: []string{"c0", "c1"}, And: []string{"r0"}, Count: 9}},
	{"toxic", quiet, faults.DelayMessage{Between: []string{"c0"}, And: []string{"s0"}, By: 200 * time.Millisecond}},
	{"refuse", small, faults.Refuse{Node: "r0", For: 300 * time.Millisecond}},
	{"refuse", stock, faults.Refuse{Node: "r0", For: 2 * time.Second}},
	{"stall", quiet, faults.Stall{Node: "r0", For: 300 * time.Millisecond}},
	{"stall", stock, faults.Stall{Node: "r0", For: 30 * time.Second}},
	{"stall", quiet, faults.Stall{Node: "s0"}},
	{"kill-worker", quiet, faults.KillWorker{Process: "c0"}},
	{"exhaust", quiet, faults.ExhaustPool{Process: "c0", For: 300 * time.Millisecond}},
	{"exhaust", quiet, faults.ExhaustPool{Process: "c0", For: time.Minute}},
	{"exhaust", stock, faults.ExhaustPool{Process: "c0"}},
	{"restart", quiet, faults.Restart{Process: "c0"}},
	{"reset", quiet, faults.Reset{Between: []string{"c0", "c1", "c2"}, And: []string{"r0", "s0"}}},
	{"reset", stock, faults.Reset{Between: []string{"c0", "c1", "c2"}, And: []string{"r0"}}},
}

func quiet(p *sim.Process) *redis.Client { return redisclient.New(p, "r0") }

func small(p *sim.Process) *redis.Client { return smallPool(p, 1) }

// smallPool returns a client with that many connections.
func smallPool(p *sim.Process, size int) *redis.Client {
	opt := redisclient.Quiet()
	opt.Addr, opt.PoolSize = p.Address("r0"), size
	return redisclient.With(p, opt)
}

// stock returns a client of r0 in its default configuration.
func stock(p *sim.Process) *redis.Client {
	opt := redisclient.Stock()
	opt.Addr = p.Address("r0")
	return redisclient.With(p, opt)
}

// TestDeterminismOfEachFault shows, for each kind of fault, that a run with it
// has the same trace each time, with one processor and with two, and that the
// fault is in it.
func TestDeterminismOfEachFault(t *testing.T) {
	for _, tt := range struck {
		t.Run(fmt.Sprint(tt.action), func(t *testing.T) {
			for seed := range uint64(seeds(10)) {
				cfg := sim.Config{Seed: seed, Clients: 3}
				body := func(w *sim.World) error { return strike(w, tt.client, tt.action) }
				first := onProcessors(t, 1, cfg, body)
				for _, n := range []int{1, 2, 2} {
					if d := trace.Diff(first, onProcessors(t, n, cfg, body)); d != nil {
						t.Fatalf("seed %d, %d processors: %v", seed, n, d)
					}
				}
				if !strings.Contains(string(first.JSON()), `"actor":"world","kind":"`+tt.kind+`"`) {
					t.Fatalf("seed %d: the trace has no %s", seed, tt.kind)
				}
			}
		})
	}
}

// TestResetOfManyIsDeterministic shows that default clients whose connections
// are reset together retry in one order: each draws its backoff from the same
// source, math/rand's.
func TestResetOfManyIsDeterministic(t *testing.T) {
	body := func(w *sim.World) error {
		w.At(5500*time.Microsecond, func() {
			for i := range w.Clients() {
				must(t, w.Faults().Reset(w.Client(i).Name(), "r0"))
			}
		})
		for i := range w.Clients() {
			p := w.Client(i)
			r := stock(p)
			p.Go(func() {
				must(t, r.Ping(p.Context()).Err())
				n, err := r.Append(p.Context(), "log", p.Name()).Result()
				mark(p, "%d %v", n, err)
			})
		}
		return w.RunUntil(w.Idle)
	}
	cfg := sim.Config{Clients: 16, Latency: ms}
	first := onProcessors(t, 1, cfg, body)
	for range seeds(50) {
		if d := trace.Diff(first, onProcessors(t, 2, cfg, body)); d != nil {
			t.Fatal(d)
		}
	}
}

// strike starts the work of all clients and applies a fault.
func strike(w *sim.World, client func(p *sim.Process) *redis.Client, action faults.Action) error {
	var failed error
	w.At(50*time.Millisecond, func() {
		if restart, ok := action.(faults.Restart); ok {
			failed = restartAtWork(w, restart.Process, client)
			return
		}
		failed = action.Apply(w.Faults())
	})
	w.At(20*time.Second, w.Heal)
	for i := range w.Clients() {
		p := w.Client(i)
		p.Go(func() { clientWork(p, client(p)) })
	}
	if err := w.RunUntil(w.Idle); err != nil {
		return err
	}
	return failed
}

func restartAtWork(w *sim.World, name string, client func(p *sim.Process) *redis.Client) error {
	if err := w.Faults().Crash(name, faults.CrashPower); err != nil {
		return err
	}
	p, err := w.Faults().Revive(name)
	if err == nil {
		p.Go(func() { clientWork(p, client(p)) })
	}
	return err
}

// clientWork is the work of one client: locks and writes, marks and timers.
func clientWork(p *sim.Process, r *redis.Client) {
	s := store.NewClient(p)
	for i := range 8 {
		granted, err := r.SetNX(p.Context(), "lock", p.Name(), 100*time.Millisecond).Result()
		if _, dead := p.Mark(trace.Mark{Step: trace.Point, Label: fmt.Sprint("tried ", granted, err)}); dead != nil {
			return
		}
		if granted {
			op := store.Op{Resource: "a", Register: "b", ID: fmt.Sprintf("%s.%d.%d", p.Name(), p.Incarnation(), i)}
			err = s.Write(p.Context(), op)
			mark(p, "wrote %v", err)
			p.Clock().AfterFunc(15*time.Millisecond,
				func() { mark(p, "renewed %v", r.PExpire(p.Context(), "lock", time.Second).Err()) })
			_ = p.Clock().Sleep(p.Context(), 30*time.Millisecond)
			mark(p, "released %v", r.Del(p.Context(), "lock").Err())
		}
		_ = p.Clock().Sleep(p.Context(), 10*time.Millisecond)
	}
}
