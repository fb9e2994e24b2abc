package testreports

import (
	"strings"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/spaces"
)

// Exploration is an exploration of two blocks of ten runs, with two runs that end
// stuck. One of the two is examined.
func Exploration() *explorations.Exploration {
	plan := &explorations.Plan{Lock: "mylock", Runs: 20, FirstSeed: 1, Block: 10, Judge: explorations.JudgeEverything,
		Collect: explorations.CollectAll,
		Space:   spaces.Space{Faults: append(spaces.Space{}.Faults, "pause", "crash")}}
	calm := explorations.Block{Job: 0, Tally: tally.Tally{Runs: 10, Evidence: 9,
		Vacuous: map[string]int{"nobody contended": 1},
		Faults:  map[string]tally.FaultTally{"pause": {Planned: 4, Struck: 3}}, Virtual: 3e11}}
	calm.Classes = map[lock.Fault]tally.ClassTally{"pause": {Struck: 3, Evidence: 2}}
	bad := explorations.Block{Job: 1, Tally: tally.Tally{Runs: 10, Evidence: 10, Violating: 2,
		Violations: map[checker.Label]int{checker.Stuck: 2}},
		Unexamined: 1, Failures: failure.Failures{{Lock: "mylock", Seed: 14, Runs: 1, FirstSeed: 14, Drawn: 3, Faults: 1,
			Same: 10, Again: 10, Replays: 10,
			Shape: "stuck in mode none: pause", Violations: []outcome.Violation{{Mode: fence.None, Label: checker.Stuck}},
			Reasons: []string{"the lock was never free again, " + strings.Repeat("and nobody could say why, ", 5)},
			Story:   []failure.Step{{N: 1, Actor: "c0", Text: "asks for the lock"}},
			Run:     &outcome.RunFile{Source: "name: drawn\n"}}}}
	return explorations.Assemble(plan, map[int]explorations.Block{0: calm, 1: bad})
}

// count makes a map with one count. Its key may be of a type that this package cannot
// name.
func count[K ~string](counts *map[K]int, key K, n int) { *counts = map[K]int{key: n} }
