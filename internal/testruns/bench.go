package testruns

import (
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim"
)

// BenchCalls measures a call of a client of a world, which it makes again and again. The world is made and ended in the
// time that is measured: inside, a benchmark would measure virtual time.
func BenchCalls(b *testing.B, servers sim.Kind, prepare func(p *sim.Process) (call func() error)) {
	b.Helper()
	cfg := sim.Config{Clients: 1, Servers: []sim.Kind{servers}, Limits: sim.Limits{Virtual: 1 << 62, Events: 1 << 40}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			call := prepare(p)
			for range b.N {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchRuns measures complete runs of a scenario with a lock, in one mode.
func BenchRuns(b *testing.B, p Pair) {
	b.Run(p.Scenario.Name, func(b *testing.B) {
		for i := range b.N {
			o, err := play.Run(p.Scenario, p.Lock, play.RunOptions{Seed: uint64(i), Modes: []fence.Mode{fence.None},
				Alone: true})
			if err != nil {
				b.Fatal(err)
			}
			if len(o.Modes[0].Trace.Events) == 0 {
				b.Fatal("no events")
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	})
}
