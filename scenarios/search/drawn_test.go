package search_test

import (
	"os"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// Each thing that is drawn now and then is there for a reason: a lock has a mistake that
// only this thing shows. The search finds the specimen among the scenarios as they are
// drawn, and in none of the same scenarios without that thing. But for the release that is
// called again, they are without faults. Data that is wrong is not counted: without a fence, a client that works for
// longer than its lease loses some with any lock.
func TestFoundOnlyBecause(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for _, c := range []struct {
		specimen string
		because  string
		without  func(sc *file.Scenario)
		space    spaces.Space
		rare     bool // it takes more runs, and is left out of less than half a soak
		// near is a seed shortly before one that finds it, from which less than a soak begins; 0 means 1.
		near uint64
	}{
		{"quorum-of-half", "a quorum of a drawn size", func(sc *file.Scenario) { sc.Lock.Nodes = 0 }, spaces.Space{}, false,
			66},
		// The clients c1 and c10 of a crowd resemble each other too.
		{"owner-prefix", "owner ids that resemble each other", func(sc *file.Scenario) { sc.Lock.Owner = file.OwnerFresh },
			spaces.Space{Clients: spaces.Span{Min: 2, Max: 4}}, false, 6},
		{"names-collide", "several resources", func(sc *file.Scenario) { sc.Workload.Resources = []string{"order"} },
			spaces.Space{}, false, 8},
		{"queue-of-ten", "a crowd", func(sc *file.Scenario) { sc.World.Clients = min(sc.World.Clients, 4) }, spaces.Space{},
			false, 78},
		{"ttl-from-deadline", "a deadline", func(sc *file.Scenario) { sc.Workload.Deadline = false }, spaces.Space{}, false,
			0},
		{"extend-forgets-owner", "an extension by the holder", func(sc *file.Scenario) { sc.Workload.Extend = 0 },
			spaces.Space{}, false, 34},
		{"try-then-unlock", "clients that ask without waiting", func(sc *file.Scenario) { sc.Workload.Tries = false },
			spaces.Space{}, false, 0},
		{"expiry-by-client-clock", "servers whose clocks disagree", func(sc *file.Scenario) { sc.World.Skew = 0 },
			spaces.Space{}, false, 34},
		{"lease-ends-with-the-wait", "a wait with a context of its own", func(sc *file.Scenario) {
			w := &sc.Workload
			w.AcquireWithin = 0
			w.Deadline = w.Deadline && w.Request+w.ExtendWithin+w.ReleaseWithin > 0
		}, spaces.Space{}, true, 0},
		{"release-sent-once", "a release that is called again",
			func(sc *file.Scenario) { sc.Workload.Release = file.ReleaseLast },
			spaces.Space{Faults: []lock.Fault{lock.FaultPartition}}, true, 0},
	} {
		t.Run(c.specimen, func(t *testing.T) {
			if c.rare && testruns.Soak(t, 100, 0) < 50 {
				t.Skip("it takes many runs: make soak has it")
			}
			t.Parallel()
			l := testruns.Kind(t, "broken/"+c.specimen)
			if c.space.Faults == nil {
				c.space.Faults = []lock.Fault{}
			}
			c.space.Strategy = spaces.StrategySwarm // which draws each of them; the others have more that may find the mistake
			space := discovered(t, l, c.space)
			runs := outcome.Seeds{First: 1, Last: uint64(max(testruns.Soak(t, 1200, 0.1), 120))}
			if c.rare {
				runs.Last *= 3
			}
			if os.Getenv("LOCKSIM_SOAK") != "1" {
				runs.First = max(c.near, 1)
			}
			first := func(runs outcome.Seeds, change func(sc *file.Scenario)) (seed uint64) {
				for drawn := range search.Drawn(l, space, runs) {
					change(drawn.Scenario)
					trial := search.Play(l, drawn)
					if trial.Err != nil {
						t.Fatalf("%v: %v", drawn, trial.Err)
					}
					if slices.ContainsFunc(trial.Violations, func(v outcome.Violation) bool { return v.Label != checker.Corrupted }) {
						return drawn.Seed
					}
				}
				return 0
			}
			with := first(runs, func(*file.Scenario) {})
			if with == 0 {
				t.Fatalf("not found in %d runs with %s", runs.Last, c.because)
			}
			if os.Getenv("LOCKSIM_SOAK") != "1" { // twice as many without it as it took with it
				runs.Last = min(runs.Last, with+(with-runs.First)+10)
			}
			if seed := first(runs, c.without); seed > 0 {
				t.Errorf("found without %s too, by seed %d", c.because, seed)
			}
			t.Logf("%s: found in run %d, and in none of %d without it", c.because, with, runs.Last-runs.First+1)
		})
	}
}
