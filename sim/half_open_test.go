package sim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// TestHalfOpen shows that nothing passes the connections that are there when it
// strikes, either way, and that one of a later instant is not touched. Those that it
// struck end for both ends when its time is over or the world is healed, also one
// that has lost nothing.
func TestHalfOpen(t *testing.T) {
	for _, d := range []time.Duration{10 * time.Second, 0} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			solo(t, sim.Config{Latency: ms}, func(w *sim.World, p *sim.Process, sink *Sink) {
				used, idle := dial(p, "n0"), dial(p, "n0")
				w.Do(func() { must(t, faults.HalfOpen{Between: []string{"c0"}, For: d}.Apply(w.Faults())) })
				mustWrite(used, "x")
				sink.Conns[0].Send([]byte("x"))
				_ = used.SetReadDeadline(p.Clock().Now().Add(time.Second))
				if err := readErr(used); !errors.Is(err, os.ErrDeadlineExceeded) || len(sink.Conns[0].At) > 0 {
					t.Errorf("a connection that was there: read %v, and %d messages came", err, len(sink.Conns[0].At))
				}
				later := dial(p, "n0")
				if up, down := delays(w, later, sink.Conns[2]); !near(up, ms.Min) || !near(down, ms.Min) {
					t.Errorf("a connection that came later: %v up and %v down", up, down)
				}
				if sink.Conns[0].Ended || sink.Conns[1].Ended {
					t.Error("an end was told")
				}
				if d == 0 {
					w.Do(w.Heal)
				}
				_ = used.SetReadDeadline(time.Time{})
				for i, c := range []*sim.Conn{used, idle} {
					if err := readErr(c); !errors.Is(err, io.EOF) || !sink.Conns[i].Ended {
						t.Errorf("connection %d, afterwards: read %v, the server was told: %v", i, err, sink.Conns[i].Ended)
					}
					_ = c.Close()
				}
				if d > 0 && w.Now() < d {
					t.Errorf("they ended at %v, before %v", w.Now(), d)
				}
				if up, down := delays(w, later, sink.Conns[2]); !near(up, ms.Min) || !near(down, ms.Min) {
					t.Errorf("a connection that came later, afterwards: %v up and %v down", up, down)
				}
				_ = later.Close()
			})
		})
	}
}

// TestHalfOpenPool shows what it is for: a command on a pooled connection waits until
// go-redis gives up, is never done, and the next one works at once.
func TestHalfOpenPool(t *testing.T) {
	run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
		p := w.Client(0)
		r := redisclient.New(p, "r0")
		p.Go(func() {
			must(t, r.Set(p.Context(), "k", "before", 0).Err())
			w.Do(func() { must(t, faults.HalfOpen{Between: []string{"c0"}, And: []string{"r0"}}.Apply(w.Faults())) })
			began := w.Now()
			err := r.Set(context.Background(), "k", "lost", 0).Err()
			if !errors.Is(err, os.ErrDeadlineExceeded) || w.Now()-began < r.Options().ReadTimeout {
				t.Errorf("SET over the dead connection: %v after %v", err, w.Now()-began)
			}
			began = w.Now()
			if k, err := r.Get(p.Context(), "k").Result(); k != "before" || err != nil || w.Now()-began > 10*time.Millisecond {
				t.Errorf("GET over a new connection: %q, %v after %v", k, err, w.Now()-began)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// TestHalfOpenDeterminism shows that clients at work end up with the same trace each
// time.
func TestHalfOpenDeterminism(t *testing.T) {
	action := faults.HalfOpen{Between: []string{"c0", "c1"}, For: 300 * time.Millisecond}
	for seed := range uint64(seeds(10)) {
		cfg := sim.Config{Seed: seed, Clients: 3}
		body := func(w *sim.World) error { return strike(w, stock, action) }
		first := onProcessors(t, 1, cfg, body)
		for _, n := range []int{1, 2} {
			if d := trace.Diff(first, onProcessors(t, n, cfg, body)); d != nil {
				t.Fatalf("seed %d, %d processors: %v", seed, n, d)
			}
		}
	}
}
