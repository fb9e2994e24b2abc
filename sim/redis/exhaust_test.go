package redis_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
)

// smallPool returns a client with that many connections.
func smallPool(p *sim.Process, size int) *redis.Client {
	opt := redisclient.Quiet()
	opt.Addr, opt.PoolSize = p.Address("r0"), size
	return redisclient.With(p, opt)
}

// TestExhaustPool shows that a command waits while others hold every
// connection, that it fails after go-redis' PoolTimeout of 6 s, or when its
// context ends, and that it goes on when they are done.
func TestExhaustPool(t *testing.T) {
	for _, tt := range []struct {
		name     string
		held     time.Duration // from 1s on; the command begins at 2s
		patience time.Duration // of its context
		want     error
		ended    time.Duration
	}{
		{"until others are done", 5 * time.Second, time.Minute, nil, 6 * time.Second},
		{"until go-redis gives up", time.Minute, time.Minute, redis.ErrPoolTimeout, 8 * time.Second},
		{"until its context ends", time.Minute, time.Second, context.DeadlineExceeded, 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
				p := w.Client(0)
				r := redisclient.New(p, "r0")
				w.At(time.Second, func() { must(t, w.Faults().ExhaustPool("c0", tt.held)) })
				p.Go(func() {
					_ = p.Clock().Sleep(p.Context(), 2*time.Second)
					ctx, cancel := context.WithTimeout(p.Context(), tt.patience)
					defer cancel()
					err := r.Set(ctx, "k", "v", 0).Err()
					if !errors.Is(err, tt.want) || w.Now() < tt.ended || w.Now() > tt.ended+5*time.Millisecond {
						t.Errorf("%v at %v, want %v at %v", err, w.Now(), tt.want, tt.ended)
					}
				})
				return w.RunUntil(w.Idle)
			})
		})
	}
}

// TestExhaustTakesWhatIsInUse shows that a command under way when the pool is
// exhausted gets its reply, and that the next one has to wait; that a
// subscription is unaffected; and that Heal releases all connections.
func TestExhaustTakesWhatIsInUse(t *testing.T) {
	res := run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
		p := w.Client(0)
		r := smallPool(p, 2)
		w.At(10500*time.Microsecond, func() { must(t, w.Faults().ExhaustPool("c0", 0)) })
		w.At(5*time.Second, w.Heal)
		p.Go(func() {
			sub := r.Subscribe(p.Context(), "news")
			defer func() { _ = sub.Close() }()
			_, _ = sub.Receive(p.Context())
			_ = p.Clock().Sleep(p.Context(), 10*time.Millisecond-w.Now())
			must(t, r.Publish(p.Context(), "news", "1").Err()) // under way when it begins
			if w.Now() > 20*time.Millisecond {
				t.Errorf("answered at %v", w.Now())
			}
			msg, err := sub.Receive(p.Context())
			if m, ok := msg.(*redis.Message); err != nil || !ok || m.Payload != "1" {
				t.Errorf("the subscription got %v, %v", msg, err)
			}
			must(t, r.Ping(p.Context()).Err())
			if w.Now() < 5*time.Second || w.Now() > 5*time.Second+5*time.Millisecond {
				t.Errorf("the next was answered at %v, want 5s", w.Now())
			}
			if n := r.PoolStats().TotalConns; n != 2 {
				t.Errorf("%d connections, want 2", n)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if count(res, "exhaust") != 1 || count(res, "exhaust-end") != 1 {
		t.Errorf("the trace has %d exhaust and %d exhaust-end, want one each", count(res, "exhaust"),
			count(res, "exhaust-end"))
	}
}

// TestExhaustUnreachable shows that holders retry while their node is cut off,
// or refuses them, and hold connections when it can be reached again.
func TestExhaustUnreachable(t *testing.T) {
	for name, do := range map[string]func(w *sim.World) error{
		"cut off": func(w *sim.World) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"c0"}, For: 2 * time.Second})
		},
		"refused": func(w *sim.World) error { return w.Faults().Refuse("r0", 2*time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
				p := w.Client(0)
				r := smallPool(p, 3)
				must(t, do(w))
				must(t, w.Faults().ExhaustPool("c0", 10*time.Second))
				p.Go(func() {
					_ = p.Clock().Sleep(p.Context(), 5*time.Second)
					must(t, r.Ping(p.Context()).Err())
					if w.Now() < 10*time.Second || w.Now() > 11*time.Second {
						t.Errorf("answered at %v, want 10s", w.Now())
					}
				})
				return w.RunUntil(w.Idle)
			})
		})
	}
}

// TestExhaustDoesNotOutliveAProcess shows that a run ends while pools are
// exhausted, that a crash ends the holders, and that neither leaves a goroutine.
func TestExhaustDoesNotOutliveAProcess(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, crash := range []bool{false, true} {
		run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
			p := w.Client(0)
			redisclient.New(p, "r0")
			must(t, w.Faults().ExhaustPool("c0", 0))
			if crash {
				w.At(time.Second, func() { must(t, w.Faults().Crash("c0", faults.CrashProcess)) })
			}
			err := w.RunFor(2 * time.Second)
			if !w.Idle() {
				t.Error("the holders count as work of the process")
			}
			must(t, w.Faults().ExhaustPool("c0", 0)) // no connection is left for the second
			return err
		})
	}
}

// TestExhaustErrors shows what is refused.
func TestExhaustErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		if err := w.Faults().ExhaustPool("c0", 0); !errors.Is(err, sim.ErrNoPool) {
			t.Errorf("no client: %v", err)
		}
		redisclient.New(w.Client(0), "r0")
		if err := w.Faults().ExhaustPool("c0", -1); err == nil || !strings.Contains(err.Error(), "-1ns") {
			t.Errorf("a negative time: %v", err)
		}
		if err := w.Faults().ExhaustPool("c9", 0); err == nil {
			t.Error("no error for c9")
		}
		return nil
	})
}

// crowd sends more commands at once than a pool has connections, with faults or
// without.
func crowd(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		r := smallPool(p, 2)
		for n := range 6 {
			p.Go(func() {
				for range 3 {
					length, err := r.Append(p.Context(), "log", fmt.Sprint(n)).Result()
					mark(p, "%d: %d %v", n, length, err)
				}
			})
		}
	}
	return w.RunUntil(w.Idle)
}

// TestExhaustedRunsFollowEachOther shows that runs in which commands waited for
// a connection can follow one another in one process, on one processor and on
// many. go-redis keeps the timers of such waits for the whole program, and a
// timer of an earlier run ends the program: without the workaround this test
// does not fail, it crashes.
func TestExhaustedRunsFollowEachOther(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("%d processors", n), func(t *testing.T) {
			for seed := range uint64(seeds(30)) {
				onProcessors(t, n, sim.Config{Seed: seed, Clients: 3}, crowd)
				onProcessors(t, n, sim.Config{Seed: seed, Latency: exactly}, exhausted)
			}
		})
	}
}

// exhausted is a world in which commands wait for an exhausted pool, some until
// their timeout.
func exhausted(w *sim.World) error {
	p := w.Client(0)
	r := redisclient.New(p, "r0")
	w.At(10*time.Millisecond, func() { _ = w.Faults().ExhaustPool("c0", 8*time.Second) })
	for n := range 4 {
		p.Go(func() {
			for range 4 {
				length, err := r.Append(p.Context(), "log", fmt.Sprint(n)).Result()
				mark(p, "%d: %d %v", n, length, err)
				_ = p.Clock().Sleep(p.Context(), time.Duration(n+1)*time.Second)
			}
		})
	}
	return w.RunUntil(w.Idle)
}

// calm never sends more commands at once than a pool has connections.
func calm(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		r := redisclient.New(p, "r0")
		for n := range 3 {
			p.Go(func() {
				for range 5 {
					length, err := r.Append(p.Context(), "log", fmt.Sprint(n)).Result()
					mark(p, "%d: %d %v", n, length, err)
					_ = p.Clock().Sleep(p.Context(), 20*time.Millisecond)
				}
			})
		}
	}
	return w.RunUntil(w.Idle)
}

// TestCollectionsOnlyAfterExhaustion shows that the workaround, two
// collections, runs only after a run that exhausted a pool.
func TestCollectionsOnlyAfterExhaustion(t *testing.T) {
	for _, tt := range []struct {
		name string
		body func(w *sim.World) error
		want uint32
	}{
		{"calm", calm, 0}, {"crowd", crowd, 2}, {"exhausted", exhausted, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(t, sim.Config{Clients: 2}, tt.body)
			runtime.ReadMemStats(&after)
			if n := after.NumForcedGC - before.NumForcedGC; n != tt.want {
				t.Errorf("%d forced collections, want %d", n, tt.want)
			}
		})
	}
}
