package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// TestTerminate shows how a process ends that is asked to: by itself when it says so, at once if it
// has nothing to do, and otherwise when its grace is over. Its notice ends before.
func TestTerminate(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name  string
		work  func(p *sim.Process)
		ends  time.Duration
		trace string
		felt  bool
	}{
		{"it does nothing", nil, s, "terminate 5s; crash by itself, as it was asked to", false},
		{"it ends by itself", func(p *sim.Process) {
			_ = p.Clock().Sleep(p.Notice(), time.Hour)
			_ = p.Clock().Sleep(p.Context(), s)
			p.Exit()
		}, 2 * s, "terminate 5s; crash by itself, as it was asked to", true},
		{"it does not hear", func(p *sim.Process) { _ = p.Clock().Sleep(p.Context(), time.Hour) }, 6 * s,
			"terminate 5s; crash its grace is over", true},
		{"it has ended by itself before", func(p *sim.Process) { p.Exit() }, s, "terminate 5s; crash by itself, as it was " +
			"asked to", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			felt, ended := false, time.Duration(0)
			tr := run(t, sim.Config{}, func(w *sim.World) error {
				p := w.Client(0)
				w.At(s, func() {
					if p.Notice().Err() != nil || p.Crashed() {
						t.Error("it has heard before it was asked, or ended")
					}
					must(t, faults.Terminate{Process: "c0", Grace: 5 * s}.Apply(w.Faults().WhenFelt(func() { felt = true })))
				})
				if tt.work != nil {
					p.Go(func() { tt.work(p) })
				}
				context.AfterFunc(p.Context(), func() { ended = w.Now() })
				return w.RunFor(10 * s)
			}).Trace
			var events []string
			for _, e := range tr.Events {
				if e.Actor == trace.World {
					events = append(events, strings.TrimSpace(e.Kind()+" "+e.Text()))
				}
			}
			if got := strings.Join(events, "; "); got != tt.trace || felt != tt.felt ||
				(ended-tt.ends).Abs() > time.Millisecond {
				t.Errorf("%s at %v, felt %v; want %s at %v, felt %v", got, ended, felt, tt.trace, tt.ends, tt.felt)
			}
		})
	}
}

// TestTerminateAndRestart shows that a process which comes back within the grace is not killed.
func TestTerminateAndRestart(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		must(t, w.Faults().Terminate("c0", 5*time.Second))
		w.At(time.Second, func() { must(t, w.Faults().Restart("c0")) })
		err := w.RunFor(10 * time.Second)
		if w.Client(0).Crashed() || w.Client(0).Notice().Err() != nil {
			t.Error("the new process was asked to end too, or killed")
		}
		return err
	})
}

// TestTerminateClosesSockets shows that peers hear the end, as after a crash of the process.
func TestTerminateClosesSockets(t *testing.T) {
	solo(t, sim.Config{Latency: ms}, func(w *sim.World, p *sim.Process, sink *Sink) {
		_ = dial(p, "n0")
		w.Do(func() { must(t, w.Faults().Terminate("c0", time.Second)) })
		rest(w, 2*time.Second)
		if !sink.Conns[0].Ended {
			t.Error("the server was not told")
		}
	})
}

// TestTerminateErrors shows what is refused.
func TestTerminateErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		for _, err := range []error{w.Faults().Terminate("c9", time.Second), w.Faults().Terminate("r0", time.Second),
			w.Faults().Terminate("c0", 0)} {
			if err == nil {
				t.Error("it was not refused")
			}
		}
		must(t, w.Faults().Crash("c0", faults.CrashProcess))
		if err := w.Faults().Terminate("c0", time.Second); err != nil {
			t.Error(fmt.Errorf("of a crashed process: %w", err))
		}
		return nil
	})
}
