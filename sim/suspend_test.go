package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// TestSuspendStopsTheMonotonicClock shows the clocks of a client after ten seconds: its monotonic
// clock lacks the time asleep, once where several suspensions overlap, and its wall clock is right.
func TestSuspendStopsTheMonotonicClock(t *testing.T) {
	const s = time.Second
	suspend := func(d time.Duration) faults.Action { return faults.Suspend{Process: "c0", For: d} }
	for _, tt := range []struct {
		name       string
		at         map[time.Duration]faults.Action
		mono, wall time.Duration
	}{
		{"once", map[time.Duration]faults.Action{s: suspend(3 * s)}, 7 * s, 10 * s},
		{"twice", map[time.Duration]faults.Action{s: suspend(2 * s), 5 * s: suspend(2 * s)}, 6 * s, 10 * s},
		{"two that overlap", map[time.Duration]faults.Action{s: suspend(3 * s), 2 * s: suspend(4 * s)}, 5 * s, 10 * s},
		{"one within another", map[time.Duration]faults.Action{s: suspend(5 * s), 2 * s: suspend(s)}, 5 * s, 10 * s},
		{"with a jump meanwhile", map[time.Duration]faults.Action{s: suspend(3 * s),
			2 * s: faults.ClockJump{Clock: "c0", By: -5 * s}}, 7 * s, 5 * s},
		{"of a fast clock", map[time.Duration]faults.Action{0: faults.ClockDrift{Clock: "c0", PPM: 1_000_000},
			s: suspend(3 * s)}, 14 * s, 17 * s},
		{"with a drift from meanwhile on", map[time.Duration]faults.Action{s: suspend(3 * s),
			2 * s: faults.ClockDrift{Clock: "c0", PPM: 1_000_000}}, 13 * s, 16 * s},
		{"and a crash meanwhile", map[time.Duration]faults.Action{s: suspend(3 * s), 2 * s: faults.Crash{Process: "c0"},
			3 * s: faults.Restart{Process: "c0"}}, 7 * s, 10 * s},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sim.Config{}, func(w *sim.World) error {
				p := w.Client(0)
				mono, wall := p.Clock().Peek(), p.WallClock().Peek()
				for at, a := range tt.at {
					w.At(at, func() { must(t, a.Apply(w.Faults())) })
				}
				if err := w.RunFor(10 * s); err != nil {
					return err
				}
				p = w.Client(0)
				if got := p.Clock().Peek().Sub(mono); !roughly(got, tt.mono) {
					t.Errorf("monotonic time %v, want %v", got, tt.mono)
				}
				if got := p.WallClock().Peek().Sub(wall); !roughly(got, tt.wall) {
					t.Errorf("wall time %v, want %v", got, tt.wall)
				}
				return nil
			})
		})
	}
}

// TestSuspendHoldsTheProcess shows that a process does nothing while its machine sleeps, that a timer
// which was under way is late by that time, and what the trace says. The fault is felt.
func TestSuspendHoldsTheProcess(t *testing.T) {
	const s, ms1 = time.Second, time.Millisecond
	var woke, slept, felt time.Duration
	tr := run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		w.At(s, func() {
			must(t, faults.Suspend{Process: "c0", For: time.Minute}.Apply(w.Faults().WhenFelt(func() { felt = w.Now() })))
		})
		p.Go(func() {
			_ = p.Clock().Sleep(context.Background(), 5*s)
			slept = w.Now()
		})
		p.Go(func() {
			rest(w, 30*s)
			_ = p.Point("here")
			woke = w.Now()
		})
		return w.RunUntil(w.Idle)
	}).Trace
	if (slept-65*s).Abs() > ms1 || (woke-61*s).Abs() > ms1 {
		t.Errorf("a sleep of 5s ended at %v, want 1m5s; a seam was passed at %v, want 1m1s", slept, woke)
	}
	if felt == 0 {
		t.Error("the fault was not felt")
	}
	var kinds []string
	for _, e := range tr.Events {
		if e.Actor == trace.World && e.Peer == "c0" {
			kinds = append(kinds, e.Kind())
		}
	}
	if got := strings.Join(kinds, " "); got != "suspend wake" {
		t.Errorf("events %s, want suspend wake", got)
	}
}

// TestSuspendIsFelt shows that a suspension is felt by a process that reads its clock only afterwards, and
// not by one that never does anything.
func TestSuspendIsFelt(t *testing.T) {
	for _, reads := range []bool{false, true} {
		felt := false
		run(t, sim.Config{}, func(w *sim.World) error {
			p := w.Client(0)
			must(t, faults.Suspend{Process: "c0", For: time.Second}.Apply(w.Faults().WhenFelt(func() { felt = true })))
			w.At(2*time.Second, func() {
				if reads {
					p.Go(func() { p.Clock().Now() })
				}
			})
			return w.RunFor(3 * time.Second)
		})
		if felt != reads {
			t.Errorf("the process reads its clock: %v, felt: %v", reads, felt)
		}
	}
}

// TestSuspendErrors shows what is refused, and that a crashed process cannot be suspended.
func TestSuspendErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		for _, err := range []error{w.Faults().Suspend("c9", time.Second), w.Faults().Suspend("r0", time.Second),
			w.Faults().Suspend("c0", 0)} {
			if err == nil {
				t.Error("it was not refused")
			}
		}
		must(t, w.Faults().Crash("c0", faults.CrashProcess))
		must(t, w.Faults().Suspend("c0", time.Second))
		before := w.Client(0).Clock().Peek()
		err := w.RunFor(2 * time.Second)
		if got := w.Client(0).Clock().Peek().Sub(before); !roughly(got, 2*time.Second) {
			t.Errorf("the clock of a machine that was not suspended shows %v after 2s", got)
		}
		return err
	})
}
