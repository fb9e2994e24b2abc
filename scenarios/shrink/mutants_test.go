package shrink_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/shrink"
	"locksim/scenarios/spaces"
)

// mutants are wrong minimizers.
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
	"removes only faults": func() reducer {
		return shrink.FewerFaults
	},
	"makes one pass only": func() reducer {
		return shrink.OnceRound
	},
	"differs each time": func() reducer {
		hold := time.Duration(0)
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			small := shrink.Minimize(sc, fails).Clone()
			hold += time.Second
			small.Workload.Hold = hold
			return small
		}
	},
	"makes too many trials": func() reducer {
		return func(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
			for range shrink.MaxTrials {
				fails(sc)
			}
			return shrink.Minimize(sc, fails)
		}
	},
}

// The checks of wrongWith detect each mutant of Minimize.
func TestMinimizeMutants(t *testing.T) {
	space, pause := testruns.Spaces(t)[0], causes[1].fails
	for name, mutant := range mutants {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				sc := search.Draw(spaces.Seeded(seed), space)
				if !pause(sc) {
					continue
				}
				if err := wrongWith(t, mutant(), sc, pause); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("the mutant was not detected")
		})
	}
}
