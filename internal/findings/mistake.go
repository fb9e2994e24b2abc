package main

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/broken"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// showsMistake reports whether a violation shows the mistake of a specimen, and
// not the limit of every lock with a lease: without a fence any such lock
// corrupts data once its holder sleeps or works beyond the TTL. A correct lock
// does not corrupt data behind a fence that seals, its claims never overlap, it
// is never stuck, and no rightful holder is refused: the opposite of any of
// these shows the mistake.
//
// A specimen whose detector is corrupted data without a fence is a watchdog;
// its run shows the mistake if the correct watchdog does not corrupt data in
// the same schedule with the same seed. Of a lock that is not a specimen any
// violation counts.
func showsMistake(name string, s *search.Sighting) (bool, error) {
	if !isSpecimen(name) || slices.ContainsFunc(s.Violations, neverCorrect) {
		return true, nil
	}
	specimen, err := broken.Find(strings.TrimPrefix(name, "broken/"))
	if err != nil || specimen.Detector != broken.Corrupted {
		return false, err
	}
	return safeWithWatchdog(s.Outcome)
}

// neverCorrect reports whether no correct lock has this violation, under any
// faults.
func neverCorrect(v play.Violation) bool { return v.Label != checker.Corrupted || v.Mode != fence.None }

// safeWithWatchdog repeats a run with the correct watchdog, and reports whether
// it has no violation.
func safeWithWatchdog(o *play.Outcome) (bool, error) {
	l, err := play.Kind("watchdog")
	if err != nil {
		return false, err
	}
	control, err := play.Run(o.Scenario, l, play.RunOptions{Seed: o.Seed, Modes: []fence.Mode{fence.None}, Alone: true})
	if err != nil {
		return false, fmt.Errorf("the same run with the correct watchdog: %w", err)
	}
	return len(play.Violations(control, lock.Promise{Data: string(fence.None)})) == 0, nil
}
