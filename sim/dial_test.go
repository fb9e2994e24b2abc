package sim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
)

// TestDialRefused shows that a crashed node refuses after a round trip, and
// that it can be dialled again later.
func TestDialRefused(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		w.Do(func() { must(t, w.Faults().Crash("r0", faults.CrashProcess)) })
		start := w.Now()
		_, err := p.Dial(context.Background(), "tcp", "r0")
		if !errors.Is(err, syscall.ECONNREFUSED) || !near(w.Now()-start, 2*time.Millisecond) {
			t.Errorf("%v after %v, want ECONNREFUSED after 2ms", err, w.Now()-start)
		}
		w.Do(func() { must(t, w.Faults().Restart("r0")) })
		_ = dial(p, "r0").Close()
	})
}

// TestDialNames shows under which names a node is dialled, and the error for an
// unknown name.
func TestDialNames(t *testing.T) {
	for _, tt := range []struct{ addr, want string }{
		{"r0", ""}, {"r0:6379", ""}, {"10.0.0.10:6379", ""}, {"s0", ""}, {"s0:7000", ""},
		{"r1", `no server listens at "r1": this world has r0, s0`},
		{"localhost:6379", `no server listens at "localhost:6379"`},
	} {
		t.Run(tt.addr, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
				c, err := p.Dial(context.Background(), "tcp", tt.addr)
				switch {
				case tt.want == "" && err != nil:
					t.Error(err)
				case tt.want == "":
					_ = c.Close()
				case err == nil || !strings.Contains(err.Error(), tt.want):
					t.Errorf("error %v, want %s", err, tt.want)
				}
			})
		})
	}
}

// TestDialCancelled shows that the end of the context ends a dial at once, that
// a dial with an ended context sends nothing, and that a connection which is
// accepted too late is not left open.
func TestDialCancelled(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		cut   bool
	}{
		{"before it begins", 0, false},
		{"under way", 500 * time.Microsecond, false},
		{"cut off", 10 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				if tt.cut {
					cutNow(w, faults.Partition{Between: []string{"c0"}, And: []string{"r0"}})
				}
				ctx, cancel := context.WithTimeout(context.Background(), tt.after)
				defer cancel()
				start := time.Now()
				_, err := p.Dial(ctx, "tcp", "r0")
				if !errors.Is(err, context.DeadlineExceeded) || !near(time.Since(start), tt.after) {
					t.Errorf("%v after %v, want the context's end after %v", err, time.Since(start), tt.after)
				}
				rest(w, 10*time.Millisecond)
			})
		})
	}
}

// A dial whose context was cancelled before needs no event: its caller may have a mutex that
// another goroutine waits for, as go-redis has when it loses the connection of a PubSub.
func TestDialCancelledBefore(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var mu sync.Mutex
		mu.Lock()
		var waits sync.WaitGroup
		waits.Go(func() {
			mu.Lock()
			defer mu.Unlock()
		})
		start := w.Now()
		_, err := p.Dial(ctx, "tcp", "r0")
		mu.Unlock()
		waits.Wait()
		if !errors.Is(err, context.Canceled) || w.Now() != start {
			t.Errorf("%v after %v, want the end of the context at once", err, w.Now()-start)
		}
	})
}

// A dial of a crashed process says that it crashed, also if its context ended with it.
func TestDialCancelledByCrash(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		w.Do(func() { must(t, w.Faults().Crash("c0", faults.CrashProcess)) })
		_, err := p.Dial(p.Context(), "tcp", "r0")
		if !errors.Is(err, sim.ErrCrashed) {
			t.Errorf("%v, want %v", err, sim.ErrCrashed)
		}
	})
}

// cutNow applies a partition from a goroutine of a process.
func cutNow(w *sim.World, f faults.Partition) {
	var err error
	w.Do(func() { err = w.Faults().Cut(f) })
	if err != nil {
		panic(err)
	}
}
