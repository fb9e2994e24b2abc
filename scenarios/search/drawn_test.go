package search_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Each thing that is drawn now and then is there for a reason: a lock has a mistake that
// only this thing shows. The search finds the specimen among the scenarios as they are
// drawn, and in none of the same scenarios without that thing. All of them are without
// faults. Data that is wrong is not counted: without a fence, a client that works for longer
// than its lease loses some with any lock.
func TestFoundOnlyBecause(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for _, c := range []struct {
		specimen string
		because  string
		without  func(sc *file.Scenario)
		space    search.Space
	}{
		{"quorum-of-half", "a quorum of a drawn size", func(sc *file.Scenario) { sc.Lock.Nodes = 0 }, search.Space{}},
		// The clients c1 and c10 of a crowd resemble each other too.
		{"owner-prefix", "owner ids that resemble each other", func(sc *file.Scenario) { sc.Lock.Owner = file.OwnerFresh }, search.Space{Clients: search.Span{Min: 2, Max: 4}}},
		{"names-collide", "several resources", func(sc *file.Scenario) { sc.Workload.Resources = []string{"order"} }, search.Space{}},
		{"queue-of-ten", "a crowd", func(sc *file.Scenario) { sc.World.Clients = min(sc.World.Clients, 4) }, search.Space{}},
		{"ttl-from-deadline", "a deadline", func(sc *file.Scenario) { sc.Workload.Deadline = false }, search.Space{}},
		{"extend-forgets-owner", "an extension by the holder", func(sc *file.Scenario) { sc.Workload.Extend = 0 }, search.Space{}},
		{"expiry-by-client-clock", "servers whose clocks disagree", func(sc *file.Scenario) { sc.World.Skew = 0 }, search.Space{}},
	} {
		t.Run(c.specimen, func(t *testing.T) {
			t.Parallel()
			l := testruns.Kind(t, "broken/"+c.specimen)
			c.space.Faults = []lock.Fault{}
			space := discovered(t, l, c.space)
			runs := search.Seeds{First: 1, Last: uint64(testruns.Soak(t, 2000, 0.1))}
			violations := func(change func(sc *file.Scenario)) (count int, first uint64) {
				for drawn := range search.Drawn(space, runs) {
					change(drawn.Scenario)
					trial := search.Play(l, drawn)
					if trial.Err != nil {
						t.Fatalf("%v: %v", drawn, trial.Err)
					}
					if slices.ContainsFunc(trial.Violations, func(v play.Violation) bool { return v.Label != checker.Corrupted }) {
						if count++; first == 0 {
							first = drawn.Seed
						}
					}
				}
				return count, first
			}
			found, first := violations(func(*file.Scenario) {})
			if found == 0 {
				t.Errorf("not found in %d runs with %s", runs.Last, c.because)
			}
			without, seed := violations(c.without)
			if without > 0 {
				t.Errorf("found in %d runs without %s, first by seed %d", without, c.because, seed)
			}
			t.Logf("%s: found in %d of %d runs, first in run %d; without it in %d", c.because, found, runs.Last, first, without)
		})
	}
}
