package play

import (
	"testing"
	"time"

	"locksim/faults"
)

// mutants are minimisers that do something wrong.
var mutants = map[string]func() reducer{
	"leaves out what matters": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			small := Minimize(sc, fails).Clone()
			small.Faults = nil
			return small
		}
	},
	"returns what it tried last": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			last := sc
			Minimize(sc, func(s *Scenario) bool { last = s; return fails(s) })
			return last
		}
	},
	"makes no valid scenario": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			small := Minimize(sc, fails).Clone()
			small.World.Clients = 0
			return small
		}
	},
	"changes what it is given": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			small := Minimize(sc, fails)
			for i := range sc.Faults {
				sc.Faults[i].When = &faults.Event{Client: "c0", Name: "read", Nth: 1}
				sc.Faults[i].At, sc.Faults[i].After = 0, 0
			}
			return small
		}
	},
	"does nothing": func() reducer {
		return func(sc *Scenario, _ func(*Scenario) bool) *Scenario { return sc }
	},
	"knows nothing but faults": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}}
			m.fewerFaults()
			return m.best
		}
	},
	"goes round once": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}}
			m.shortTimes()
			m.fewerFaults()
			return m.best
		}
	},
	"is another one each time": func() reducer {
		hold := time.Duration(0)
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			small := Minimize(sc, fails).Clone()
			hold += time.Second
			small.Workload.Hold = hold
			return small
		}
	},
	"never has enough": func() reducer {
		return func(sc *Scenario, fails func(*Scenario) bool) *Scenario {
			for range MaxTrials {
				fails(sc)
			}
			return Minimize(sc, fails)
		}
	},
}

// What the tests of Minimize look at is enough to notice a mistake in it.
func TestMinimizeMutants(t *testing.T) {
	space, pause := spaces(t)[0], causes[1].fails
	for name, mutant := range mutants {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				sc := Draw(Seeded(seed), space)
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
