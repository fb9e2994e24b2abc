package search_test

import (
	"testing"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// BenchmarkDrawn is the run of a search: a drawn schedule of a lock on one server and of one on five, within the
// promise of the lock, with its verdict.
func BenchmarkDrawn(b *testing.B) {
	for _, name := range []string{"single", "redlock"} {
		b.Run(name, func(b *testing.B) {
			l, err := redislocks.Kind(name)
			if err != nil {
				b.Fatal(err)
			}
			l = l.Cached()
			space := promised(b, name)
			schedules := make([]*file.Scenario, 50)
			for i := range schedules {
				schedules[i] = search.Draw(spaces.Seeded(uint64(i)), space)
			}
			b.ReportAllocs()
			events, n := 0, 0
			for b.Loop() {
				at := n % len(schedules)
				o, _, err := play.Try(l, schedules[at], uint64(at))
				if err != nil {
					b.Fatal(err)
				}
				events += o.Modes[0].Events
				n++
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "runs/s")
			b.ReportMetric(float64(events)/float64(n), "events/run")
		})
	}
}
