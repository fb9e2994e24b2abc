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

// telling reports whether a violation shows what is wrong with a specimen, and
// not what is wrong with every lock that has a lease. Without a fence the data of
// any such lock is corrupted once its holder sleeps or works beyond the TTL. A
// right lock is corrupted behind no fence that seals, its claims never overlap, it
// is never stuck, and no rightful holder is refused: any of these tells.
//
// A specimen that is known by corrupted data without a fence is a watchdog; its
// run tells if the right watchdog comes out of the same schedule and seed whole.
// For a lock that is no specimen any violation tells.
func showsMistake(name string, t *search.Trial) (bool, error) {
	if !isSpecimen(name) || slices.ContainsFunc(t.Violations, provesMistake) {
		return true, nil
	}
	specimen, err := broken.Find(strings.TrimPrefix(name, "broken/"))
	if err != nil || specimen.Detector != broken.Corrupted {
		return false, err
	}
	return wholeWithWatchdog(t.Outcome)
}

// guilty is what no right lock does, whatever goes wrong.
func provesMistake(v play.Violation) bool {
	return v.Label != checker.Corrupted || v.Mode != fence.None
}

// wholeWithWatchdog plays a run with the right watchdog.
func wholeWithWatchdog(o *play.Outcome) (bool, error) {
	l, err := play.Kind("watchdog")
	if err != nil {
		return false, err
	}
	control, err := play.Run(o.Scenario, l, play.RunOptions{Seed: o.Seed, Modes: []fence.Mode{fence.None}, Alone: true})
	if err != nil {
		return false, fmt.Errorf("the same run with the right watchdog: %w", err)
	}
	return len(play.Violations(control, lock.Promise{Data: string(fence.None)})) == 0, nil
}
