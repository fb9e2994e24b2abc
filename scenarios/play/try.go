package play

import (
	"fmt"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// Try plays a scenario once with the lock, in the mode in which it is judged, and
// returns the violations of its promise. Errors are those of [Run].
//
// It is for searches, which make many runs of which few are read: the run has no story and no hash, and porcupine is
// asked about a run with a violation and about one of 16 others.
func Try(l subject.Lock, sc *file.Scenario, seed uint64) (*outcome.Outcome, []outcome.Violation, error) {
	o, err := Run(sc, l, RunOptions{Seed: seed, Modes: []fence.Mode{l.JudgedMode()}, Alone: true, Bare: true})
	if err != nil {
		return nil, nil, err
	}
	broken := outcome.Violations(o, l.JudgedBy())
	run := &o.Modes[0]
	if len(broken) > 0 || (seed+uint64(run.Events))%corroboratedEvery == 0 {
		if err := run.Corroborate(); err != nil {
			return nil, nil, fmt.Errorf("scenario %s, lock %s, seed %d, mode %s: %w", sc.Name, l.Name, seed, run.Mode, err)
		}
	}
	return o, broken, nil
}

// corroboratedEvery is the number of runs of a search for each about which porcupine is asked. The seed and the length
// of the run decide, since all runs of a sweep have one seed.
const corroboratedEvery = 16
