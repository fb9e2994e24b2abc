package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

func crashNow(w *sim.World, mode faults.CrashMode) {
	w.Do(func() {
		if err := w.Faults().Crash("c0", mode); err != nil {
			panic(err)
		}
	})
}

// operations are the seams that return ErrCrashed.
func operations(p *sim.Process, c *sim.Conn) map[string]func() error {
	background := context.Background()
	return map[string]func() error{
		"read":        func() error { return readErr(c) },
		"write":       func() error { return writeErr(c) },
		"close":       c.Close,
		"close write": c.CloseWrite,
		"dial":        func() error { _, err := p.Dial(background, "tcp", "n0"); return err },
		"sleep":       func() error { return p.Clock().Sleep(background, 10*time.Hour) },
		"point":       func() error { return p.Point("x") },
		"mark":        func() error { _, err := p.Mark(trace.Mark{Step: trace.Release, Resource: "x"}); return err },
	}
}

// TestCrashAtEverySeam shows that every seam of a crashed process returns
// ErrCrashed at once, and that the process does nothing in the world.
func TestCrashAtEverySeam(t *testing.T) {
	for _, mode := range faults.CrashModes() {
		res := solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
			c := dial(p, "n0")
			crashNow(w, mode)
			start := w.Now()
			for name, do := range operations(p, c) {
				if err := do(); !errors.Is(err, sim.ErrCrashed) || w.Now() != start {
					t.Errorf("%s: %s: %v after %v", mode, name, err, w.Now()-start)
				}
			}
			p.Clock().Now()
			p.Clock().AfterFunc(time.Millisecond, func() { t.Error("a timer fired") })
			rest(w, time.Second)
			if s := sink.Conns[0]; len(sink.Conns) != 1 || len(s.Got) > 0 {
				t.Errorf("%s: the node has %q over %d connections", mode, s.Got, len(sink.Conns))
			}
		})
		crashed := false
		for _, e := range res.Trace.Events {
			if crashed && e.Actor == "c0" && e.Kind() != "close" { // by the operating system
				t.Errorf("%s: after the crash: %v", mode, e)
			}
			crashed = crashed || e.Kind() == "crash"
		}
	}
}

// TestCrashWhileBlocked shows that a goroutine which is blocked in a seam when
// its process crashes returns at once with ErrCrashed, although the event that
// it has waited for never happens.
func TestCrashWhileBlocked(t *testing.T) {
	background := context.Background()
	for _, mode := range faults.CrashModes() {
		for _, tt := range []struct {
			name string
			do   func(w *sim.World, p *sim.Process, c *sim.Conn) error
		}{
			{"read", func(_ *sim.World, _ *sim.Process, c *sim.Conn) error { return readErr(c) }},
			{"write", func(w *sim.World, _ *sim.Process, c *sim.Conn) error {
				addToxic(w, sim.Up, &faults.Hold{})
				_, _ = c.Write(make([]byte, 256<<10))
				return writeErr(c)
			}},
			{"dial", func(w *sim.World, p *sim.Process, _ *sim.Conn) error {
				rest(w, 997*time.Millisecond+500*time.Microsecond) // dialled at 2ms
				_, err := p.Dial(background, "tcp", "n0")
				return err
			}},
			{"dial in a partition", func(w *sim.World, p *sim.Process, _ *sim.Conn) error {
				cutNow(w, faults.Partition{Between: []string{"c0"}})
				_, err := p.Dial(background, "tcp", "r0")
				return err
			}},
			{"sleep", func(_ *sim.World, p *sim.Process, _ *sim.Conn) error {
				return p.Clock().Sleep(background, 10*time.Hour)
			}},
			{"pause", func(w *sim.World, p *sim.Process, _ *sim.Conn) error {
				pauseNow(w, "c0", time.Minute)
				return p.Point("x")
			}},
		} {
			t.Run(string(mode)+" "+tt.name, func(t *testing.T) {
				run(t, withSink(sim.Config{Clients: 2, Latency: ms}), func(w *sim.World) error {
					p := w.Client(0)
					w.At(time.Second, func() { _ = w.Faults().Crash("c0", mode) })
					p.Go(func() {
						err := tt.do(w, p, dial(p, "n0"))
						if !errors.Is(err, sim.ErrCrashed) || !near(w.Now(), time.Second) {
							t.Errorf("%v at %v, want ErrCrashed at 1s", err, w.Now())
						}
					})
					return w.RunUntil(w.Idle)
				})
			})
		}
	}
}

// TestDeferredCode shows that the writes of deferred code after a crash are not
// sent, that bytes sent before still arrive, and what the peer sees: the end of
// the stream after a crash of the process, nothing after a power failure.
func TestDeferredCode(t *testing.T) {
	for _, mode := range faults.CrashModes() {
		run(t, withSink(sim.Config{Latency: ms}), func(w *sim.World) error {
			p, sink := w.Client(0), sinkOf(w)
			p.Go(func() {
				c := dial(p, "n0")
				defer func() {
					_, _ = c.Write([]byte("unlock"))
					_ = c.Close()
				}()
				mustWrite(c, "lock")
				_ = readErr(c)
			})
			w.At(2500*time.Microsecond, func() { _ = w.Faults().Crash("c0", mode) })
			err := w.RunFor(time.Minute)
			s := sink.Conns[0]
			if string(s.Got) != "lock" || s.Ended != (mode == faults.CrashProcess) || s.IsReset {
				t.Errorf("%s: the node has %q, end %v, reset %v", mode, s.Got, s.Ended, s.IsReset)
			}
			s.Send([]byte("anybody there?"))
			s.Close()
			return errors.Join(err, w.RunFor(time.Minute))
		})
	}
}

// TestQueuedCommandOutlivesItsSender shows that Redis executes a command which
// was written before the crash after it, in both modes.
func TestQueuedCommandOutlivesItsSender(t *testing.T) {
	for _, mode := range faults.CrashModes() {
		run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				mustWrite(dial(p, "r0"), "SET k v\r\n")
				_ = p.Point("sent")
			})
			w.OnMark(func(_ string, m trace.Mark) {
				if m.Label == "sent" {
					_ = w.Faults().Crash("c0", mode)
				}
			})
			err := w.RunFor(time.Second)
			if keys := redisOf(w).Keys(); len(keys) != 1 {
				t.Errorf("%s: the node holds %v", mode, keys)
			}
			return err
		})
	}
}

// TestMarkDuringACrash shows that a mark which was under way when the process
// crashed is not recorded after the crash, and that an observation of the
// harness is.
func TestMarkDuringACrash(t *testing.T) {
	res := run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
		p := w.Client(0)
		w.At(time.Millisecond+1, func() { _ = w.Faults().Crash("c0", faults.CrashProcess) })
		p.Go(func() {
			time.Sleep(time.Millisecond)
			if n, err := p.Mark(trace.Mark{Step: trace.Point, Label: "late"}); n != 0 || !errors.Is(err, sim.ErrCrashed) {
				t.Errorf("event %d, %v", n, err)
			}
			if p.Observe(trace.Mark{Step: trace.LostSeen, Resource: "dead"}) == 0 {
				t.Error("the harness saw nothing")
			}
		})
		return w.RunUntil(w.Idle)
	})
	var kinds []string
	for _, e := range res.Trace.Events {
		kinds = append(kinds, e.Kind())
	}
	if got := strings.Join(kinds, " "); got != "crash lost-seen" {
		t.Errorf("the trace has %s", got)
	}
}

// TestCrashEndsTheContext shows that the process's context ends, and that a
// panic of code that does not handle ErrCrashed does not end the run.
func TestCrashEndsTheContext(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			<-p.Context().Done()
			panic("no network")
		})
		w.At(time.Second, func() { _ = w.Faults().Crash("c0", faults.CrashPower) })
		err := w.RunUntil(w.Idle)
		if w.Now() < time.Second || !p.Crashed() {
			t.Errorf("ended at %v, crashed %v", w.Now(), p.Crashed())
		}
		return err
	})
}

// TestCrashErrors shows that an unknown name is refused, and that a second
// crash does nothing.
func TestCrashErrors(t *testing.T) {
	res := run(t, sim.Config{}, func(w *sim.World) error {
		if w.Faults().Crash("c9", faults.CrashPower) == nil {
			t.Error("no error for c9")
		}
		return errors.Join(w.Faults().Crash("c0", faults.CrashPower), w.Faults().Crash("c0", faults.CrashProcess))
	})
	if res.Trace.Len() != 1 {
		t.Errorf("%d events, want one crash", res.Trace.Len())
	}
}

// Code of a crashed process that waits for ever does not keep the world busy for longer than a minute, and ends with
// the run. That of a process that runs does.
func TestCrashedCodeIsIdle(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p, ended := w.Client(0), make(chan struct{})
		p.OnEnd(func() { close(ended) })
		p.Go(func() { <-ended })
		if err := w.RunFor(2 * time.Minute); err != nil || w.Idle() {
			t.Errorf("idle %v while the process runs: %v", w.Idle(), err)
		}
		if err := w.Faults().Crash("c0", faults.CrashProcess); err != nil {
			return err
		}
		if w.Idle() {
			t.Error("idle at the crash, although code that was under way may still end")
		}
		return w.RunUntil(w.Idle)
	})
}
