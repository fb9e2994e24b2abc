package shrink_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/shrink"
)

// mutants are minimisers that do something wrong.
var mutants = map[string]func() reducer{
	"leaves out what matters": func() reducer {
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			small := shrink.Minimize(sc, fails).Clone()
			small.Faults = nil
			return small
		}
	},
	"returns what it tried last": func() reducer {
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			last := sc
			shrink.Minimize(sc, func(s *file.Scenario) bool { last = s; return fails(s) })
			return last
		}
	},
	"makes no valid scenario": func() reducer {
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			small := shrink.Minimize(sc, fails).Clone()
			small.World.Clients = 0
			return small
		}
	},
	"changes what it is given": func() reducer {
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			small := shrink.Minimize(sc, fails)
			for i := range sc.Faults {
				sc.Faults[i].When = &faults.Event{Client: "c0", Name: "read", Nth: 1}
				sc.Faults[i].At, sc.Faults[i].After = 0, 0
			}
			return small
		}
	},
	"does nothing": func() reducer {
		return func(sc *file.Scenario, _ func(*file.Scenario) bool) *file.Scenario { return sc }
	},
	"knows nothing but faults": func() reducer {
		return shrink.FewerFaults
	},
	"goes round once": func() reducer {
		return shrink.OnceRound
	},
	"is another one each time": func() reducer {
		hold := time.Duration(0)
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			small := shrink.Minimize(sc, fails).Clone()
			hold += time.Second
			small.Workload.Hold = hold
			return small
		}
	},
	"never has enough": func() reducer {
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			for range shrink.MaxTrials {
				fails(sc)
			}
			return shrink.Minimize(sc, fails)
		}
	},
}

// What the tests of Minimize look at is enough to notice a mistake in it.
func TestMinimizeMutants(t *testing.T) {
	space, pause := testruns.Spaces(t)[0], causes[1].fails
	for name, mutant := range mutants {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				sc := search.Draw(search.Seeded(seed), space)
				if !pause(sc) {
					continue
				}
				if err := wrongWith(t, mutant(), sc, pause); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("nobody notices")
		})
	}
}
