package shrink

import (
	"locksim/scenarios/file"
)

// What the tests of this package look into.
var (
	RoundTimes  = roundTimes
	RounderThan = rounderThan
	ScaledTo    = scaledTo
)

// FewerFaults is Minimize that knows nothing but faults.
func FewerFaults(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
	m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}}
	m.fewerFaults()
	return m.best
}

// OnceRound is Minimize that goes round once.
func OnceRound(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
	m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}}
	m.shortTimes()
	m.fewerFaults()
	return m.best
}
