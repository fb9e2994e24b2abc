package sim_test

import (
	"context"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
)

// TestSlow shows by how much timers are late: those that come due while the
// fault is in force, and no others.
func TestSlow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		slow  func(w *sim.World) // at 1s
		sleep time.Duration      // from the start on
		woken time.Duration
	}{
		{"due before", slowC0(2*time.Second, 3*time.Second), 500 * time.Millisecond, 500 * time.Millisecond},
		{"due meanwhile", slowC0(2*time.Second, 3*time.Second), 2 * time.Second, 4 * time.Second},
		{"due meanwhile, late beyond the end", slowC0(2*time.Second, 3*time.Second), 3900 * time.Millisecond,
			5900 * time.Millisecond},
		{"due after", slowC0(2*time.Second, 3*time.Second), 4100 * time.Millisecond, 4100 * time.Millisecond},
		{"until healed", slowC0(2*time.Second, 0), time.Minute, 62 * time.Second},
		{"healed", func(w *sim.World) { slowC0(2*time.Second, 0)(w); w.Heal() }, time.Minute, time.Minute},
		{"two at once", func(w *sim.World) { slowC0(2*time.Second, time.Hour)(w); slowC0(time.Second, 0)(w) },
			2 * time.Second, 5 * time.Second},
		{"another process", func(w *sim.World) { _ = w.Faults().Slow("c1", time.Hour, 0) }, 2 * time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sim.Config{Clients: 2}, func(w *sim.World) error {
				p := w.Client(0)
				w.At(time.Second, func() { tt.slow(w) })
				check := func(what string) {
					if !near(w.Now()+10, tt.woken) { // the sleep begins some ns late
						t.Errorf("%s ended at %v, want %v", what, w.Now(), tt.woken)
					}
				}
				p.Go(func() {
					fired := make(chan struct{})
					p.Clock().AfterFunc(tt.sleep, func() { check("timer"); close(fired) })
					<-fired
				})
				p.Go(func() {
					_ = p.Clock().Sleep(p.Context(), tt.sleep)
					check("sleep")
				})
				return w.RunUntil(w.Idle)
			})
		})
	}
}

func slowC0(by, d time.Duration) func(w *sim.World) {
	return func(w *sim.World) {
		if err := w.Faults().Slow("c0", by, d); err != nil {
			panic(err)
		}
	}
}

// TestSlowAffectsOnlyTimers shows that the network, the end of a context and
// the harness's own wait are not late, and that a late timer can be stopped.
func TestSlowAffectsOnlyTimers(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		w.Do(func() { slowC0(time.Hour, 0)(w) })
		start := w.Now()
		_ = dial(p, "r0").Close()
		if !near(w.Now()-start, 2*time.Millisecond) {
			t.Errorf("a dial took %v", w.Now()-start)
		}
		stop := p.Clock().AfterFunc(time.Millisecond, func() { t.Error("it fired") })
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		start = w.Now()
		if err := p.Clock().Sleep(ctx, time.Minute); err == nil || !near(w.Now()-start, 10*time.Millisecond) {
			t.Errorf("the sleep ended with %v after %v", err, w.Now()-start)
		}
		start = w.Now()
		if !p.Clock().Until(p.Clock().Peek().Add(time.Second), nil) || !near(w.Now()-start, time.Second) {
			t.Errorf("Until took %v", w.Now()-start)
		}
		if !stop() {
			t.Error("the late timer could not be stopped")
		}
	})
}

// TestSlowErrors shows what is refused, that a crashed process is not affected,
// and that the trace has both ends of the fault.
func TestSlowErrors(t *testing.T) {
	res := run(t, sim.Config{}, func(w *sim.World) error {
		for _, err := range []error{
			w.Faults().Slow("c9", time.Second, 0), w.Faults().Slow("c0", 0, 0), w.Faults().Slow("c0", -1, 0),
			w.Faults().Slow("c0", 1, -1),
		} {
			if err == nil {
				t.Error("no error")
			}
		}
		slowC0(time.Second, time.Second)(w)
		err := w.RunFor(2 * time.Second)
		must(t, w.Faults().Crash("c0", faults.CrashPower))
		slowC0(time.Second, 0)(w)
		return err
	})
	if count(res, "slow") != 1 || count(res, "slow-end") != 1 {
		t.Errorf("%d slow, %d slow-end, want one each", count(res, "slow"), count(res, "slow-end"))
	}
}
