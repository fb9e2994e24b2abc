package shrink

import (
	"locksim/scenarios/file"
)

// Exported for the tests of this package.
var (
	RoundTimes  = roundTimes
	RounderThan = rounderThan
	ScaledTo    = scaledTo
)

// FewerFaults is a Minimize that only removes faults.
func FewerFaults(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
	m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}}
	m.fewerFaults()
	return m.best
}

// OnceRound is a Minimize that makes one pass.
func OnceRound(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
	m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}}
	m.shortTimes()
	m.fewerFaults()
	return m.best
}
