package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksim/sim"
)

// TestClocks shows the two clocks of a process after a second of the world,
// when they drift and when the wall clock is set.
func TestClocks(t *testing.T) {
	for _, tt := range []struct {
		name       string
		do         func(w *sim.World) error
		mono, wall time.Duration
	}{
		{"true", func(*sim.World) error { return nil }, time.Second, time.Second},
		{"fast", func(w *sim.World) error { return w.Faults().DriftClock("c0", 100_000, 0) }, 1100 * time.Millisecond,
			1100 * time.Millisecond},
		{"slow", func(w *sim.World) error { return w.Faults().DriftClock("c0", -200_000, 0) }, 800 * time.Millisecond,
			800 * time.Millisecond},
		{"set forward", func(w *sim.World) error { return w.Faults().JumpClock("c0", time.Hour) }, time.Second,
			time.Hour + time.Second},
		{"set back", func(w *sim.World) error { return w.Faults().JumpClock("c0", -time.Hour) }, time.Second,
			time.Second - time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sim.Config{Clients: 2}, func(w *sim.World) error {
				p, other := w.Client(0), w.Client(1)
				mono, wall, others := p.Clock().Peek(), p.WallClock().Peek(), other.WallClock().Peek()
				must(t, tt.do(w))
				err := w.RunFor(time.Second)
				if got := p.Clock().Now().Sub(mono); got != tt.mono {
					t.Errorf("monotonic time: %v, want %v", got, tt.mono)
				}
				if got := p.WallClock().Now().Sub(wall); got != tt.wall {
					t.Errorf("wall time: %v, want %v", got, tt.wall)
				}
				if got := other.WallClock().Now().Sub(others); got != time.Second {
					t.Errorf("another process's clock: %v", got)
				}
				return err
			})
		})
	}
}

// TestSleepByTheClock shows how long a sleep of 1 s takes in the world's time
// when the clock drifts, and that setting the wall clock changes nothing.
func TestSleepByTheClock(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *sim.World) error // before the sleep
		mid  func(w *sim.World) error // half a second into it
		want time.Duration
	}{
		{"true", nil, nil, time.Second},
		{"fast", func(w *sim.World) error { return w.Faults().DriftClock("c0", 1_000_000, 0) }, nil, 500 * time.Millisecond},
		{"slow", func(w *sim.World) error { return w.Faults().DriftClock("c0", -500_000, 0) }, nil, 2 * time.Second},
		{"jumps", func(w *sim.World) error { return w.Faults().JumpClock("c0", time.Hour) }, nil, time.Second},
		{"becomes slow", nil, func(w *sim.World) error { return w.Faults().DriftClock("c0", -500_000, 0) },
			1500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
				if tt.do != nil {
					w.Do(func() { must(t, tt.do(w)) })
				}
				if tt.mid != nil {
					p.Go(func() {
						rest(w, 500*time.Millisecond)
						w.Do(func() { must(t, tt.mid(w)) })
					})
				}
				start, begun := w.Now(), p.Clock().Peek()
				if err := p.Clock().Sleep(context.Background(), time.Second); err != nil {
					t.Error(err)
				}
				if got := w.Now() - start; !near(got+10, tt.want) { // the drift begins some ns late
					t.Errorf("it took %v of the world's time, want %v", got, tt.want)
				}
				if got := p.Clock().Peek().Sub(begun); got < time.Second {
					t.Errorf("it took %v of the clock's time, which is early", got)
				}
			})
		})
	}
}

// TestSleepAndContext shows that the end of a context ends a sleep at that
// instant, that a sleep under an ended context does not begin, and that a sleep
// of zero or less returns at once.
func TestSleepAndContext(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		start := w.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		if err := p.Clock().Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) ||
			!near(w.Now()-start, 10*time.Millisecond) {
			t.Errorf("%v after %v", err, w.Now()-start)
		}
		cancel()
		if err := p.Clock().Sleep(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		start = w.Now()
		for _, d := range []time.Duration{0, -time.Second} {
			if err := p.Clock().Sleep(context.Background(), d); err != nil || !near(w.Now()-start, 0) {
				t.Errorf("sleep of %v: %v after %v", d, err, w.Now()-start)
			}
		}
	})
}

// TestAfterFunc shows that a timer fires once, at its time; that stop reports
// whether it prevented the call, and a second stop returns false.
func TestAfterFunc(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		start := w.Now()
		fired := []time.Duration{}
		note := func() { fired = append(fired, w.Now()-start) }
		p.Clock().AfterFunc(10*time.Millisecond, note)
		stopped := p.Clock().AfterFunc(10*time.Millisecond, note)
		late := p.Clock().AfterFunc(0, note)
		rest(w, 5*time.Millisecond)
		if !stopped() || stopped() {
			t.Error("stop in time: want true, then false")
		}
		if late() {
			t.Error("stop when it has fired: want false")
		}
		rest(w, time.Second)
		if len(fired) != 2 || !near(fired[0], 0) || !near(fired[1], 10*time.Millisecond) {
			t.Errorf("fired after %v", fired)
		}
	})
}

// TestStopDuringAPause shows that a timer which comes due during a pause can
// still be stopped, since its callback has not run.
func TestStopDuringAPause(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		stop := p.Clock().AfterFunc(10*time.Millisecond, func() { t.Error("it fired") })
		pauseNow(w, "c0", time.Second)
		rest(w, 500*time.Millisecond)
		if !stop() {
			t.Error("stop: want true")
		}
		rest(w, time.Second)
	})
}

// TestUntil shows that Until waits for an instant of the clock, also if the
// clock changes meanwhile, or until it is stopped.
func TestUntil(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		c, start := p.Clock(), w.Now()
		if !c.Until(c.Peek().Add(time.Second), nil) || !near(w.Now()-start, time.Second) {
			t.Errorf("it returned after %v", w.Now()-start)
		}
		if !c.Until(c.Peek(), nil) || !near(w.Now()-start, time.Second) {
			t.Error("Until of the present reports false")
		}
		stop := make(chan struct{})
		p.Go(func() {
			rest(w, time.Second)
			close(stop)
		})
		if c.Until(c.Peek().Add(time.Hour), stop) || !near(w.Now()-start, 2*time.Second) {
			t.Errorf("stopped after %v", w.Now()-start)
		}
		wall, target := p.WallClock(), p.WallClock().Peek().Add(time.Second)
		w.Do(func() { must(t, w.Faults().JumpClock("c0", -time.Second)) })
		if !wall.Until(target, nil) || !near(w.Now()-start, 4*time.Second) {
			t.Errorf("the wall clock was set back, it returned after %v, want 4s", w.Now()-start)
		}
	})
}

// TestClockStep shows that readings within one step are equal, that a sleep is as long as without, and that Until
// returns when the clock shows the instant, whether that is the beginning of a step or not.
func TestClockStep(t *testing.T) {
	const step = time.Millisecond
	for name, clock := range map[string]func(*sim.Process) *sim.Clock{"monotonic": (*sim.Process).Clock,
		"wall": (*sim.Process).WallClock} {
		t.Run(name, func(t *testing.T) {
			solo(t, sim.Config{ClockStep: step}, func(w *sim.World, p *sim.Process, _ *Sink) {
				c, began, first := clock(p), w.Now(), clock(p).Now()
				must(t, p.Clock().Sleep(p.Context(), 400*time.Microsecond))
				if now := c.Now(); !now.Equal(first) || !near(w.Now()-began, 400*time.Microsecond) {
					t.Errorf("0.4 ms later, at %v, it shows %v, and before %v", w.Now(), now, first)
				}
				must(t, p.Clock().Sleep(p.Context(), step))
				if now := c.Now(); !now.Equal(first.Add(step)) || now.UnixNano()%int64(step) != 0 {
					t.Errorf("1.4 ms later it shows %v, and before %v", now, first)
				}
				for _, to := range []time.Duration{3 * step, 4*step + 1, 6*step - 1} {
					if c.Until(first.Add(to), nil); !near(w.Now()-began, (to+step-1)/step*step) || c.Peek().Before(first.Add(to)) {
						t.Errorf("Until %v returned after %v, when it showed %v", to, w.Now()-began, c.Peek().Sub(first))
					}
				}
				if name == "wall" {
					w.Do(func() { must(t, w.Faults().JumpClock("c0", -24*time.Hour-step/2)) })
					if now := c.Now(); now.UnixNano()%int64(step) != 0 || now.After(first) {
						t.Errorf("set back by a day and half a step it shows %v", now)
					}
				}
			})
		})
	}
}

// A time that is over is over by any clock, however long ago it was.
func TestSleepForLessThanNothing(t *testing.T) {
	_, err := sim.Run(sim.Config{Seed: 1, Clients: 1}, func(w *sim.World) error {
		if err := w.Faults().DriftClock("c0", -1, 0); err != nil {
			return err
		}
		p := w.Client(0)
		p.Go(func() {
			if err := p.Clock().Sleep(p.Context(), -1<<63); err != nil || w.Now() > time.Second {
				t.Errorf("at %v: %v", w.Now(), err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}
