package sim_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"locksim/sim"
)

// TestRefuse shows that a node, s0 too, refuses connections while the fault is
// in force, that an existing one still works, and that two refusals end with
// the last.
func TestRefuse(t *testing.T) {
	for _, node := range []string{"r0", "s0"} {
		res := run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
			p := w.Client(0)
			w.At(time.Second, func() {
				must(t, w.Faults().Refuse(node, 2*time.Second))
				must(t,
					w.Faults().Refuse(node, time.Second))
			})
			p.Go(func() {
				old := dial(p, node)
				for _, tt := range []struct {
					at   time.Duration
					want error
				}{
					{1100 * time.Millisecond, syscall.ECONNREFUSED},
					{2500 * time.Millisecond, syscall.ECONNREFUSED},
					{3 * time.Second, nil},
				} {
					rest(w, tt.at-w.Now())
					c, err := p.Dial(context.Background(), "tcp", node)
					if !errors.Is(err, tt.want) {
						t.Errorf("%s at %v: %v, want %v", node, tt.at, err, tt.want)
					}
					if err == nil {
						_ = c.Close()
					}
					mustWrite(old, "PING\r\n")
					if err := readErr(old); err != nil {
						t.Errorf("%s at %v: the old connection: %v", node, tt.at, err)
					}
				}
				_ = old.Close()
			})
			return w.RunUntil(w.Idle)
		})
		if count(res, "refuse") != 2 || count(res, "refuse-end") != 2 || count(res, "refused") != 2 {
			t.Errorf("%s: %d refuse, %d refuse-end, %d refused, want two each",
				node, count(res, "refuse"), count(res, "refuse-end"), count(res, "refused"))
		}
	}
}

// TestRefuseHealed shows that Heal ends a refusal, and the errors.
func TestRefuseHealed(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		w.Do(func() {
			must(t, w.Faults().Refuse("r0", 0))
			w.Heal()
			if w.Faults().Refuse("c0", 0) == nil || w.Faults().Refuse("r9", 0) == nil || w.Faults().Refuse("r0", -1) == nil {
				t.Error("no error")
			}
		})
		_ = dial(p, "r0").Close()
	})
}
