package play_test

import (
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// BenchmarkModeRun is a complete run of one mode: the world, the clients, the trace
// and its hash, the verdict with porcupine's check, and the story. judging-% is the part
// of a run's time that the verdict takes.
func BenchmarkModeRun(b *testing.B) {
	for _, name := range []string{"gc-pause", "calm", "redlock-clock-jump"} {
		b.Run(name, func(b *testing.B) {
			sc, l := testruns.Load(b, name)
			b.ReportAllocs()
			events, virtual := 0, 0.0
			seed := uint64(0)
			var judging time.Duration
			for b.Loop() {
				seed++
				m := testruns.Play(b, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
				events += m.Events
				virtual += m.Virtual.Seconds()
				b.StopTimer()
				judging += judged(b, m.History)
				b.StartTimer()
			}
			s := b.Elapsed().Seconds()
			b.ReportMetric(100*judging.Seconds()/s, "judging-%")
			b.ReportMetric(float64(b.N)/s, "runs/s")
			b.ReportMetric(float64(events)/float64(b.N), "events/run")
			b.ReportMetric(virtual/s, "virtual-s/s")
		})
	}
}

// judged is how long the verdict of a history takes.
func judged(b *testing.B, h checker.History) time.Duration {
	b.Helper()
	start := time.Now()
	v, err := checker.Judge(h, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := checker.Corroborate(h, v.Facts); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
