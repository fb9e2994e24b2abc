package play_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// BenchmarkModeRun is a complete run of one mode: the world, the clients, the trace
// and its hash, the verdict with porcupine's check, and the story.
func BenchmarkModeRun(b *testing.B) {
	for _, name := range []string{"gc-pause", "calm"} {
		b.Run(name, func(b *testing.B) {
			sc, l := testruns.Load(b, name)
			b.ReportAllocs()
			events, virtual := 0, 0.0
			seed := uint64(0)
			for b.Loop() {
				seed++
				m := testruns.Play(b, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
				events += m.Events
				virtual += m.Virtual.Seconds()
			}
			s := b.Elapsed().Seconds()
			b.ReportMetric(float64(b.N)/s, "runs/s")
			b.ReportMetric(float64(events)/float64(b.N), "events/run")
			b.ReportMetric(virtual/s, "virtual-s/s")
		})
	}
}
