package sim_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// after shows that a later run is unaffected.
func after(t *testing.T) {
	t.Helper()
	run(t, sim.Config{Seed: 3, Clients: 2}, contend)
}

// TestLimits shows that each limit ends a run with an error that names it.
func TestLimits(t *testing.T) {
	forever := func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			for p.Clock().Sleep(p.Context(), time.Second) == nil {
			}
		})
		return w.RunUntil(w.Idle)
	}
	for _, tt := range []struct {
		limits sim.Limits
		what   string
		at     time.Duration
	}{
		{sim.Limits{Virtual: time.Minute}, "virtual time (1m0s)", time.Minute},
		{sim.Limits{Events: 10}, "events (10)", 11 * time.Second},
		{sim.Limits{}, "virtual time (1h0m0s)", time.Hour},
	} {
		t.Run(tt.what, func(t *testing.T) {
			res, err := sim.Run(sim.Config{Limits: tt.limits}, forever)
			var limit *sim.LimitError
			if !errors.As(err, &limit) || !strings.Contains(err.Error(), tt.what) || !near(limit.At, tt.at) {
				t.Errorf("error %v, want a limit of %s at %v", err, tt.what, tt.at)
			}
			if res == nil || !near(res.Virtual, tt.at) {
				t.Errorf("result %+v", res)
			}
			var leak *sim.LeakError
			if errors.As(err, &leak) {
				t.Error("a loop that ends with the process's context is no leak")
			}
			after(t)
		})
	}
}

// TestLimitWhileEverythingWaits shows that a run which ends at its limit leaves
// no goroutine: not in a read, a write, a dial, a sleep, a pause or Until.
func TestLimitWhileEverythingWaits(t *testing.T) {
	before := runtime.NumGoroutine()
	_, err := sim.Run(withSink(sim.Config{Limits: sim.Limits{Virtual: time.Minute}}), func(w *sim.World) error {
		background := context.Background()
		p, paused := w.Client(0), w.NewProcess("c1")
		p.Go(func() { _ = readErr(dial(p, "n0")) })
		p.Go(func() {
			c := dial(p, "n0")
			addToxic(w, sim.Up, &faults.Hold{})
			_, _ = c.Write(make([]byte, 256<<10))
			_ = writeErr(c)
		})
		p.Go(func() {
			cutNow(w, faults.Partition{Between: []string{"c0"}, And: []string{"r0"}})
			_, _ = p.Dial(background, "tcp", "r0")
		})
		p.Go(func() { _ = p.Clock().Sleep(background, 10*time.Hour) })
		p.Go(func() { p.Clock().Until(p.Clock().Peek().Add(10*time.Hour), nil) })
		p.Go(func() { _ = redisclient.New(p, "r0").Get(background, "k").Err() })
		if err := w.Faults().Pause("c1", 10*time.Hour); err != nil {
			return err
		}
		paused.Go(func() { _ = paused.Point("x") })
		return w.RunUntil(w.Idle)
	})
	var limit *sim.LimitError
	var leak *sim.LeakError
	if !errors.As(err, &limit) || errors.As(err, &leak) {
		t.Errorf("error %v, want the limit only", err)
	}
	if n := runtime.NumGoroutine(); n > before+1 {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// TestStopAt shows that a run stops at the event asked for, and that its
// trace is the beginning of the whole one.
func TestStopAt(t *testing.T) {
	whole := run(t, sim.Config{Seed: 5, Clients: 3}, contend)
	for _, n := range []int{1, 2, 50, whole.Trace.Len() - 1} {
		res, err := sim.Run(served(sim.Config{Seed: 5, Clients: 3, StopAt: n}), contend)
		if !errors.Is(err, sim.ErrStopped) {
			t.Fatalf("stop at %d: %v", n, err)
		}
		if got := res.Trace.Len(); got < n || got > n+2 {
			t.Errorf("stopped at %d, asked for %d", got, n)
		}
		beginning := &trace.Trace{Events: whole.Trace.Events[:min(res.Trace.Len(), whole.Trace.Len())]}
		if d := trace.Diff(res.Trace, beginning); d != nil {
			t.Fatalf("stop at %d: %v", n, d)
		}
	}
}

// TestIdleIsNoticed shows that the world stops at the instant at which the last
// goroutine ends, also if that made no request to the world.
func TestIdleIsNoticed(t *testing.T) {
	res := run(t, sim.Config{}, func(w *sim.World) error {
		w.Client(0).Go(func() { time.Sleep(time.Second) })
		return w.RunUntil(w.Idle)
	})
	if res.Virtual != time.Second {
		t.Errorf("the run took %v, want 1s", res.Virtual)
	}
}

// TestPanics shows that a panic of a process's goroutine, of a timer or of the
// body becomes an error with the actor, the value and the stack, and that one
// at the end of the run does too.
func TestPanics(t *testing.T) {
	for _, tt := range []struct {
		name, actor string
		body        func(w *sim.World) error
	}{
		{"goroutine", "c0", func(w *sim.World) error {
			w.Client(0).Go(func() { time.Sleep(time.Second); explode() })
			return w.RunUntil(func() bool { return false })
		}},
		{"timer", "c0", func(w *sim.World) error {
			w.Client(0).Clock().AfterFunc(time.Second, explode)
			return w.RunUntil(func() bool { return false })
		}},
		{"body", "world", func(w *sim.World) error { explode(); return nil }},
		{"closing", "c0", func(w *sim.World) error { w.Client(0).OnEnd(explode); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := sim.Run(sim.Config{}, tt.body)
			var p *sim.PanicError
			if !errors.As(err, &p) || p.Actor != tt.actor || p.Value != "boom" || !strings.Contains(p.Stack, "explode") {
				t.Errorf("error %v, want the panic of %s", err, tt.actor)
			}
			if res == nil || res.Virtual > time.Second {
				t.Errorf("result %+v", res)
			}
			var leak *sim.LeakError
			if errors.As(err, &leak) {
				t.Errorf("a leak beside the panic: %v", err)
			}
			after(t)
		})
	}
}

func explode() { panic("boom") }

// TestLeak shows that a goroutine which outlives its run is an error that shows
// its stack, and does not affect the next run.
func TestLeak(t *testing.T) {
	for name, body := range map[string]func(w *sim.World) error{
		"channel": func(w *sim.World) error { go waitForEver(); return nil },
		"timer":   func(w *sim.World) error { go sleepLong(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			res, err := sim.Run(sim.Config{}, body)
			var leak *sim.LeakError
			if !errors.As(err, &leak) ||
				!strings.Contains(leak.Stacks, "sim_test."+map[string]string{"channel": "waitForEver",
					"timer": "sleepLong"}[name]) {
				t.Errorf("error %v, want the stack of the leak", err)
			}
			if res == nil {
				t.Error("no result")
			}
			after(t)
		})
	}
}

// TestNoLeak shows what may go on when a run is over: code that tries again on timers of its own and then ends, and the
// goroutines of a process that has crashed, whatever they wait for. Those of a process that has not are a leak.
func TestNoLeak(t *testing.T) {
	crash := func(w *sim.World) {
		w.At(time.Second, func() { must(t, w.Faults().Crash("c0", faults.CrashProcess)) })
	}
	for _, c := range []struct {
		name  string
		body  func(w *sim.World)
		leaks bool
	}{
		{"thirty tries", func(w *sim.World) {
			w.Client(0).Do(func() {
				go func() {
					for range 30 {
						time.Sleep(2 * time.Second)
					}
				}()
			})
		}, false},
		{"crashed", func(w *sim.World) {
			crash(w)
			w.Client(0).Do(func() { go waitForEver() })
		}, false},
		{"another one", func(w *sim.World) {
			crash(w)
			w.Client(1).Do(func() { go waitForEver() })
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sim.Run(sim.Config{Clients: 2}, func(w *sim.World) error {
				c.body(w)
				return w.RunFor(2 * time.Second)
			})
			if leak := (*sim.LeakError)(nil); errors.As(err, &leak) != c.leaks || err != nil != c.leaks {
				t.Errorf("error %v, want a leak: %v", err, c.leaks)
			}
			after(t)
		})
	}
}

func waitForEver() { <-make(chan int) }
func sleepLong()   { time.Sleep(10 * time.Hour) }

// TestBodyThatDoesNotReturn shows the errors for a body that waits without
// running the world, and for one that ends its goroutine.
func TestBodyThatDoesNotReturn(t *testing.T) {
	for _, tt := range []struct {
		name string
		body func(w *sim.World) error
		want error
	}{
		{"waits", func(w *sim.World) error { waitForEver(); return nil }, sim.ErrStuckBody},
		{"waits for a client", func(w *sim.World) error {
			done := make(chan struct{})
			p := w.Client(0)
			p.Go(func() { _ = p.Point("x"); close(done) })
			<-done
			return nil
		}, sim.ErrStuckBody},
		{"exits", func(w *sim.World) error { runtime.Goexit(); return nil }, sim.ErrNoReturn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := sim.Run(sim.Config{}, tt.body); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			after(t)
		})
	}
}

// TestErrorOfTheBody shows that it is returned, with the trace so far.
func TestErrorOfTheBody(t *testing.T) {
	mine := errors.New("mine")
	res, err := sim.Run(sim.Config{}, func(w *sim.World) error {
		must(t, w.Faults().JumpClock("c0", time.Second))
		return mine
	})
	if !errors.Is(err, mine) || res.Trace.Len() != 1 {
		t.Errorf("%v, %d events", err, res.Trace.Len())
	}
	if _, err := sim.Run(sim.Config{}, nil); err == nil {
		t.Error("no error without a body")
	}
}

// TestConcurrentRuns shows that runs which are started together do not
// interfere.
func TestConcurrentRuns(t *testing.T) {
	want := run(t, sim.Config{Seed: 1, Clients: 2}, contend).Trace.Hash()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			res, err := sim.Run(served(sim.Config{Seed: 1, Clients: 2}), contend)
			if err != nil || res.Trace.Hash() != want {
				t.Errorf("%v, or another trace", err)
			}
		})
	}
	wg.Wait()
}

// TestConfigErrors shows that each field's bad value is refused by name.
func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct {
		cfg  sim.Config
		want string
	}{
		{sim.Config{Servers: []sim.Kind{simredis.Servers{Nodes: -1}}}, "Redis servers"},
		{sim.Config{Servers: []sim.Kind{nil}}, "kind 0"},
		{sim.Config{Clients: 1000}, "clients"},
		{sim.Config{Latency: sim.Latency{Min: 2, Max: 1}}, "latency"},
		{sim.Config{StopAt: -1}, "stop at"},
		{sim.Config{Servers: []sim.Kind{store.Server{Fencing: "fancy"}}}, "fancy"},
		{sim.Config{Limits: sim.Limits{Frozen: -1}}, "limit"},
	} {
		_, err := sim.Run(tt.cfg, func(*sim.World) error { return nil })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %s", tt.cfg, err, tt.want)
		}
	}
}
