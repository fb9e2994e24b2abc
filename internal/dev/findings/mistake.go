package main

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/broken/mistake"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
)

// showsMistake reports whether a run shows the mistake of a specimen, and not a
// weakness of every lock with a lease: without a fence, the data of any such lock is
// corrupted once its holder sleeps or works beyond the TTL. With a correct lock the
// data behind a fence that seals is right, claims never overlap, the lock is never
// stuck, and no rightful holder is refused: a violation of any of these shows the
// mistake.
//
// A specimen whose sign is corrupted data without a fence is a watchdog. Its run
// shows the mistake if the correct watchdog loses no data with the same schedule and
// seed. For a lock that is not a specimen, any violation counts.
func showsMistake(name string, t *search.Trial) (bool, error) {
	if !isSpecimen(name) || slices.ContainsFunc(t.Violations, provesMistake) {
		return true, nil
	}
	specimen, err := mistake.Find(strings.TrimPrefix(name, "broken/"))
	if err != nil || specimen.Detector != mistake.Corrupted {
		return false, err
	}
	return wholeWithWatchdog(t.Outcome)
}

// provesMistake reports whether no correct lock has such a violation, under any
// faults.
func provesMistake(v outcome.Violation) bool {
	return v.Label != checker.Corrupted || v.Mode != fence.None
}

// wholeWithWatchdog reports whether the same run with the correct watchdog has no
// violation.
func wholeWithWatchdog(o *outcome.Outcome) (bool, error) {
	l, err := redislocks.Kind("watchdog")
	if err != nil {
		return false, err
	}
	control, err := play.Run(o.Scenario, l, play.RunOptions{Seed: o.Seed, Modes: []fence.Mode{fence.None}, Alone: true})
	if err != nil {
		return false, fmt.Errorf("the same run with the correct watchdog: %w", err)
	}
	return len(outcome.Violations(control, lock.Promise{Data: string(fence.None)})) == 0, nil
}
