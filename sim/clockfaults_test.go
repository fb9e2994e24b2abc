package sim_test

import (
	"strings"
	"testing"
	"time"

	"locksim/sim"
)

// TestClockFaults shows the clocks of a client and of a node after two seconds:
// what a jump adds, what a drift of one second adds and keeps, and that a
// second drift replaces the first.
func TestClockFaults(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name       string
		do         func(w *sim.World, who string) error
		wall, mono time.Duration
	}{
		{"jump forward", func(w *sim.World, who string) error { return w.Faults().JumpClock(who, time.Hour) },
			time.Hour + 2*s, 2 * s},
		{"jump back", func(w *sim.World, who string) error { return w.Faults().JumpClock(who, -time.Hour) }, 2*s - time.Hour,
			2 * s},
		{"twice as fast for 1s", func(w *sim.World, who string) error { return w.Faults().DriftClock(who, 1_000_000, s) },
			3 * s, 3 * s},
		{"stopped for 1s", func(w *sim.World, who string) error { return w.Faults().DriftClock(who, -1_000_000, s) }, s, s},
		{"until healed", func(w *sim.World, who string) error {
			w.At(1500*time.Millisecond, w.Heal)
			return w.Faults().DriftClock(who, -1_000_000, 0)
		}, s / 2, s / 2},
		{"replaced", func(w *sim.World, who string) error {
			w.At(s/2, func() { _ = w.Faults().DriftClock(who, 1_000_000, 0) }) // the end of the first would be at 1s
			return w.Faults().DriftClock(who, -1_000_000, s)
		}, 3 * s, 3 * s},
		{"ended by hand", func(w *sim.World, who string) error {
			w.At(s/2, func() { _ = w.Faults().DriftClock(who, 0, 0) })
			return w.Faults().DriftClock(who, -1_000_000, s)
		}, s + s/2, s + s/2},
	} {
		for _, who := range []string{"c0", "r0"} {
			t.Run(tt.name+" "+who, func(t *testing.T) {
				run(t, sim.Config{}, func(w *sim.World) error {
					p, n := w.Client(0), redisOf(w).Node()
					start, mono := n.Now(), p.Clock().Peek()
					if err := tt.do(w, who); err != nil {
						return err
					}
					if err := w.RunFor(2 * s); err != nil {
						return err
					}
					wall := n.Now().Sub(start)
					if who == "c0" {
						wall = p.WallClock().Peek().Sub(start)
						if got := p.Clock().Peek().Sub(mono); !roughly(got, tt.mono) {
							t.Errorf("monotonic time %v, want %v", got, tt.mono)
						}
					}
					if !roughly(wall, tt.wall) {
						t.Errorf("wall time %v, want %v", wall, tt.wall)
					}
					return nil
				})
			})
		}
	}
}

// roughly reports whether two times differ by at most the slack.
func roughly(got, want time.Duration) bool { return (got - want).Abs() < slack }

// TestTimersFollowTheRate shows that a sleep which has begun follows a change
// of the clock's rate: it is shorter when the clock runs faster, longer when it
// stops or runs slower, and as long as before when the rate changes twice in
// one instant.
func TestTimersFollowTheRate(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name  string
		sleep time.Duration
		mid   func(w *sim.World) // 0.5 s into the sleep
		want  time.Duration
	}{
		{"faster", s, driftC0(1_000_000, 0), 750 * time.Millisecond},
		{"ten times as fast", 10*time.Minute + s/2, driftC0(9_000_000, 0), time.Minute + s/2},
		{"faster for 0.1 s", s, driftC0(1_000_000, s/10), 900 * time.Millisecond},
		{"stopped for 1 s", s, driftC0(-1_000_000, s), 2 * s},
		{"stopped for 10 min", s, driftC0(-1_000_000, 10*time.Minute), 10*time.Minute + s},
		{"half as fast", s, driftC0(-500_000, 0), 1500 * time.Millisecond},
		{"and back", s, func(w *sim.World) { driftC0(9_000_000, 0)(w); driftC0(0, 0)(w) }, s},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sim.Config{}, func(w *sim.World) error {
				p := w.Client(0)
				w.At(s/2, func() { tt.mid(w) })
				for range 2 { // timers of one instant are one event
					p.Go(func() {
						_ = p.Clock().Sleep(p.Context(), tt.sleep)
						if !roughly(w.Now(), tt.want) {
							t.Errorf("it took %v, want %v", w.Now(), tt.want)
						}
					})
				}
				return w.RunUntil(w.Idle)
			})
		})
	}
}

func driftC0(ppm int64, d time.Duration) func(w *sim.World) {
	return func(w *sim.World) {
		if err := w.Faults().DriftClock("c0", ppm, d); err != nil {
			panic(err)
		}
	}
}

// TestTimersFireOnce shows that a timer which has fired, or was stopped, does not fire
// when the rate of the clock changes later.
func TestTimersFireOnce(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p, fired := w.Client(0), 0
		p.Go(func() {
			p.Clock().AfterFunc(time.Second, func() { fired++ })
			p.Clock().AfterFunc(time.Second, func() { t.Error("a timer that was stopped has fired") })()
		})
		w.At(2*time.Second, func() { driftC0(500_000, time.Second)(w) })
		err := w.RunFor(time.Minute)
		if fired != 1 {
			t.Errorf("it fired %d times", fired)
		}
		return err
	})
}

// TestUntilNow shows that the wait for an instant that has come takes no time.
func TestUntilNow(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		rest(w, time.Second)
		began := w.Now()
		if !p.Clock().Until(p.WallClock().Peek(), nil) || w.Now() != began {
			t.Errorf("it took %v", w.Now()-began)
		}
	})
}

// TestManyTimers shows that each of many timers fires once and at its time
// while the rate changes continually and some of them are stopped.
func TestManyTimers(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		for i := range 50 {
			w.At(time.Duration(i)*20*time.Millisecond, func() { driftC0(int64(i%7)*300_000-900_000, 0)(w) })
		}
		fired := make([]int, 100)
		p.Go(func() {
			for i := range fired {
				want := p.Clock().Peek().Add(time.Duration(i*i) * 100 * time.Microsecond)
				stop := p.Clock().AfterFunc(want.Sub(p.Clock().Peek()), func() {
					fired[i]++
					if now := p.Clock().Peek(); now.Before(want) || now.After(want.Add(10*time.Microsecond)) {
						t.Errorf("timer %d fired at %v, want %v", i, now, want)
					}
				})
				if i%10 == 9 {
					stop()
				}
			}
		})
		err := w.RunFor(10 * time.Second)
		for i, n := range fired {
			if want := min(1, 9-i%10); n != want {
				t.Errorf("timer %d fired %d times, want %d", i, n, want)
			}
		}
		return err
	})
}

// TestClockFaultErrors shows what is refused.
func TestClockFaultErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		for _, tt := range []struct {
			err  error
			want string
		}{
			{w.Faults().JumpClock("c9", time.Second), `"c9" has no clock`},
			{w.Faults().DriftClock("r9", 1, 0), `"r9" has no clock`},
			{w.Faults().DriftClock("c0", -1_000_001, 0), "give -1000000 (it stands still) to 9000000"},
			{w.Faults().DriftClock("r0", 9_000_001, 0), "9000001 ppm"},
			{w.Faults().DriftClock("c0", 1, -time.Second), "-1s"},
		} {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("got %v, want %s", tt.err, tt.want)
			}
		}
		return nil
	})
}
