package play_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/scenarios/play"
)

// mutants are minimisers that do something wrong.
var mutants = map[string]func() reducer{
	"leaves out what matters": func() reducer {
		return func(sc *play.Scenario, fails func(*play.Scenario) bool) *play.Scenario {
			small := play.Minimize(sc, fails).Clone()
			small.Faults = nil
			return small
		}
	},
	"returns what it tried last": func() reducer {
		return func(sc *play.Scenario, fails func(*play.Scenario) bool) *play.Scenario {
			last := sc
			play.Minimize(sc, func(s *play.Scenario) bool { last = s; return fails(s) })
			return last
		}
	},
	"makes no valid scenario": func() reducer {
		return func(sc *play.Scenario, fails func(*play.Scenario) bool) *play.Scenario {
			small := play.Minimize(sc, fails).Clone()
			small.World.Clients = 0
			return small
		}
	},
	"changes what it is given": func() reducer {
		return func(sc *play.Scenario, fails func(*play.Scenario) bool) *play.Scenario {
			small := play.Minimize(sc, fails)
			for i := range sc.Faults {
				sc.Faults[i].When = &faults.Event{Client: "c0", Name: "read", Nth: 1}
				sc.Faults[i].At, sc.Faults[i].After = 0, 0
			}
			return small
		}
	},
	"does nothing": func() reducer {
		return func(sc *play.Scenario, _ func(*play.Scenario) bool) *play.Scenario { return sc }
	},
	"knows nothing but faults": func() reducer {
		return play.FewerFaults
	},
	"goes round once": func() reducer {
		return play.OnceRound
	},
	"is another one each time": func() reducer {
		hold := time.Duration(0)
		return func(sc *play.Scenario, fails func(*play.Scenario) bool) *play.Scenario {
			small := play.Minimize(sc, fails).Clone()
			hold += time.Second
			small.Workload.Hold = hold
			return small
		}
	},
	"never has enough": func() reducer {
		return func(sc *play.Scenario, fails func(*play.Scenario) bool) *play.Scenario {
			for range play.MaxTrials {
				fails(sc)
			}
			return play.Minimize(sc, fails)
		}
	},
}

// What the tests of Minimize look at is enough to notice a mistake in it.
func TestMinimizeMutants(t *testing.T) {
	space, pause := testruns.Spaces(t)[0], causes[1].fails
	for name, mutant := range mutants {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				sc := play.Draw(play.Seeded(seed), space)
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
