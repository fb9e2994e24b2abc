package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// pauseNow pauses a process from a goroutine outside it.
func pauseNow(w *sim.World, name string, d time.Duration) {
	w.Do(func() {
		if err := w.Faults().Pause(name, d); err != nil {
			panic(err)
		}
	})
}

// seams are the operations that pass the gate of a process. Each would end
// within 10 ms, or at once.
var seams = []struct {
	name string
	do   func(p *sim.Process, c *sim.Conn)
}{
	{"read", func(_ *sim.Process, c *sim.Conn) { _ = readErr(c) }},
	{"write", func(_ *sim.Process, c *sim.Conn) { mustWrite(c, "x") }},
	{"dial", func(p *sim.Process, _ *sim.Conn) { _ = dial(p, "n0") }},
	{"close", func(_ *sim.Process, c *sim.Conn) { _ = c.Close() }},
	{"close write", func(_ *sim.Process, c *sim.Conn) { _ = c.CloseWrite() }},
	{"clock", func(p *sim.Process, _ *sim.Conn) { p.Clock().Now() }},
	{"wall clock", func(p *sim.Process, _ *sim.Conn) { p.WallClock().Now() }},
	{"sleep", func(p *sim.Process, _ *sim.Conn) { _ = p.Clock().Sleep(context.Background(), 5*time.Millisecond) }},
	{"timer", func(p *sim.Process, _ *sim.Conn) {
		done := make(chan struct{})
		p.Clock().AfterFunc(5*time.Millisecond, func() { close(done) })
		<-done
	}},
	{"mark", func(p *sim.Process, _ *sim.Conn) { _, _ = p.Mark(trace.Mark{Step: trace.Release, Resource: "x"}) }},
	{"point", func(p *sim.Process, _ *sim.Conn) { _ = p.Point("x") }},
}

// TestPauseHoldsEverySeam shows that nothing passes a seam during a pause,
// whether the goroutine reached it before the pause or during it, and that
// everything goes on after it.
func TestPauseHoldsEverySeam(t *testing.T) {
	for _, seam := range seams {
		for _, when := range []time.Duration{0, 20 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s %v into the pause", seam.name, when), func(t *testing.T) {
				solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
					c := dial(p, "n0")
					sink.Conns[0].Send([]byte("x"))
					pauseNow(w, "c0", time.Second)
					resumed := w.Now() + time.Second
					rest(w, when)
					seam.do(p, c)
					if got := w.Now(); got < resumed || got > resumed+20*time.Millisecond {
						t.Errorf("it passed at %v, the pause ended at %v", got, resumed)
					}
					_ = c.Close()
				})
			})
		}
	}
}

// TestPauseBeginsWhileBlocked shows that a goroutine which was blocked in a
// seam before the pause returns from it only after the pause.
func TestPauseBeginsWhileBlocked(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(p *sim.Process, c *sim.Conn)
	}{
		{"read", func(_ *sim.Process, c *sim.Conn) { _ = readErr(c) }},
		{"read until a deadline", func(_ *sim.Process, c *sim.Conn) {
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
			_ = readErr(c)
		}},
		{"dial", func(p *sim.Process, _ *sim.Conn) { _ = dial(p, "n0") }},
		{"dial until its context ends", func(p *sim.Process, _ *sim.Conn) {
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Microsecond)
			defer cancel()
			_, _ = p.Dial(ctx, "tcp", "n0")
		}},
		{"sleep", func(p *sim.Process, _ *sim.Conn) { _ = p.Clock().Sleep(context.Background(), 5*time.Millisecond) }},
		{"sleep until its context ends", func(p *sim.Process, _ *sim.Conn) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			defer cancel()
			_ = p.Clock().Sleep(ctx, time.Minute)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				c := dial(p, "n0")
				var resumed time.Duration
				p.Go(func() {
					rest(w, time.Millisecond)
					pauseNow(w, "c0", time.Second)
					resumed = w.Now() + time.Second
					sink.Conns[0].Send([]byte("x"))
				})
				tt.do(p, c)
				if got := w.Now(); got < resumed || got > resumed+time.Millisecond {
					t.Errorf("it returned at %v, the pause ended at %v", got, resumed)
				}
				_ = c.Close()
			})
		})
	}
}

// TestPausesOverlap shows that the process resumes when the last of several
// pauses ends.
func TestPausesOverlap(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		start := w.Now()
		for _, d := range []time.Duration{300, 500, 100} {
			pauseNow(w, "c0", d*time.Millisecond)
		}
		if !p.Paused() {
			t.Error("it is not paused")
		}
		p.Clock().Now()
		if got := w.Now() - start; got < 500*time.Millisecond || got > 501*time.Millisecond {
			t.Errorf("it went on after %v, want 500ms", got)
		}
		if p.Paused() {
			t.Error("it is still paused")
		}
	})
}

// TestPauseErrors shows the pauses that are refused, and that a crashed
// process may be paused without any effect.
func TestPauseErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		if w.Faults().Pause("c9", time.Second) == nil {
			t.Error("no error for c9")
		}
		if w.Faults().Pause("c0", 0) == nil || w.Faults().Pause("c0", -time.Second) == nil {
			t.Error("no error for a pause of no time")
		}
		if err := w.Faults().Crash("c0", "process"); err != nil {
			return err
		}
		if err := w.Faults().Pause("c0", time.Second); err != nil || w.Client(0).Paused() {
			t.Errorf("pause of a crashed process: %v", err)
		}
		return nil
	})
}

// TestBytesDuringPause shows that bytes which arrive during a pause are read
// after it, in order, and that bytes written before it arrive.
func TestBytesDuringPause(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		s := sink.Conns[0]
		mustWrite(c, "sent before")
		pauseNow(w, "c0", time.Second)
		for _, text := range []string{"one ", "two ", "three"} {
			s.Send([]byte(text))
			rest(w, 10*time.Millisecond)
		}
		if string(s.Got) != "sent before" {
			t.Errorf("the node has %q", s.Got)
		}
		buf := make([]byte, 100)
		n, err := c.Read(buf)
		if got := string(buf[:n]); got != "one two three" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		_ = c.Close()
	})
}

// TestOrderAfterResume shows that either of two goroutines which a pause holds
// may run first, and that they do not run at one instant, even if they are held
// at one seam since one instant.
func TestOrderAfterResume(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(40) {
		order := ""
		at := map[string]time.Duration{}
		run(t, sim.Config{Seed: seed, Latency: ms}, func(w *sim.World) error {
			p := w.Client(0)
			held := func(name string) func() {
				return func() {
					p.Clock().Now()
					at[name] = w.Now()
					order += name
				}
			}
			if err := w.Faults().Pause("c0", time.Second); err != nil {
				return err
			}
			a, b := held("a"), held("b")
			p.Go(func() { a() })
			p.Go(func() { b() })
			return w.RunUntil(w.Idle)
		})
		if at["a"] == at["b"] {
			t.Errorf("seed %d: both ran at %v", seed, at["a"])
		}
		orders[order]++
	}
	if orders["ab"] < 8 || orders["ba"] < 8 || len(orders) != 2 {
		t.Errorf("the orders were %v, want both, often", orders)
	}
}

// TestLateRead shows that a read whose deadline passes during a pause, and
// which also finds bytes on resume, may read or time out; without bytes it
// times out, and without a deadline it reads.
func TestLateRead(t *testing.T) {
	outcomes := func(text string, deadline time.Duration) (timeouts, reads int) {
		for seed := range uint64(40) {
			solo(t, sim.Config{Seed: seed}, func(w *sim.World, p *sim.Process, sink *Sink) {
				c := dial(p, "n0")
				if deadline > 0 {
					_ = c.SetReadDeadline(time.Now().Add(deadline))
				}
				p.Go(func() {
					pauseNow(w, "c0", time.Second)
					if text != "" {
						sink.Conns[0].Send([]byte(text))
					}
				})
				switch err := readErr(c); {
				case err == nil:
					reads++
				case errors.Is(err, os.ErrDeadlineExceeded):
					timeouts++
				default:
					t.Error(err)
				}
				_ = c.Close()
			})
		}
		return timeouts, reads
	}
	if timeouts, reads := outcomes("x", 500*time.Millisecond); timeouts < 8 || reads < 8 {
		t.Errorf("with both: %d timeouts, %d reads", timeouts, reads)
	}
	if timeouts, _ := outcomes("", 500*time.Millisecond); timeouts != 40 {
		t.Errorf("without bytes: %d timeouts of 40", timeouts)
	}
	if _, reads := outcomes("x", 0); reads != 40 {
		t.Errorf("without a deadline: %d reads of 40", reads)
	}
}

// TestPauseAtAPoint shows that a pause which begins when a process passes a
// point holds it there, before it does anything else.
func TestPauseAtAPoint(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		w.Do(func() {
			w.OnMark(func(process string, m trace.Mark) {
				if process == "c0" && m.Step == trace.Point && m.Label == "checked" {
					if err := w.Faults().Pause("c0", time.Second); err != nil {
						panic(err)
					}
				}
			})
		})
		start := w.Now()
		if err := p.Point("other"); err != nil || !near(w.Now(), start) {
			t.Errorf("another point: %v at %v", err, w.Now()-start)
		}
		if err := p.Point("checked"); err != nil || w.Now()-start < time.Second {
			t.Errorf("the point: %v at %v", err, w.Now()-start)
		}
	})
}

// TestObserveIsNotHeld shows that the harness observes a paused process,
// including its clock and the end of its lease.
func TestObserveIsNotHeld(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		pauseNow(w, "c0", time.Minute)
		start := w.Now()
		clock := p.Clock()
		if !clock.Until(clock.Peek().Add(time.Second), nil) || p.Observe(trace.Mark{Step: trace.Until, Resource: "x"}) == 0 ||
			!near(w.Now(), start+time.Second) {
			t.Errorf("the harness went on after %v, want 1s", w.Now()-start)
		}
	})
}
