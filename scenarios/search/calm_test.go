package search_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// No lock that comes with locksim fails without faults, nor do a user's correct lock
// and one over a quorum, and in each of these runs but the last a client is kept out: there, each asks when the lock is
// free.
func TestCalmTrials(t *testing.T) {
	locks := []subject.Lock{testlocks.Correct("theirs"), testlocks.Quorum("quorum")}
	for _, name := range kinds.Names() {
		locks = append(locks, ours(t, name))
	}
	for _, l := range locks {
		space := discovered(t, l, spaces.Space{})
		runs := 0
		for trial := range search.CalmTrials(l, space) {
			runs++
			if trial.Err != nil || len(trial.Violations) > 0 {
				t.Errorf("%s, run %d: %v %v", l.Name, runs, trial.Err, trial.Violations)
				continue
			}
			m := trial.Outcome.Modes[0]
			if f := m.Verdict.Facts; f.Contended == 0 != (runs == 9) || f.Grants < 2 || !m.History.Calm {
				t.Errorf("%s, run %d: calm %v, %d contended, %d grants", l.Name, runs, m.History.Calm, f.Contended, f.Grants)
			}
		}
		if runs == 0 {
			t.Errorf("%s: no run", l.Name)
		}
	}
}

// A lease must not end with the context that bounded the wait for it.
func TestCalmTrialsFindALeaseThatEndsWithTheWait(t *testing.T) {
	l := testruns.Kind(t, "broken/lease-ends-with-the-wait")
	for trial := range search.CalmTrials(l, discovered(t, l, spaces.Space{})) {
		if slices.ContainsFunc(trial.Violations, func(v outcome.Violation) bool { return v.Label == checker.Void }) {
			return
		}
	}
	t.Error("no lease ended early")
}

// A client that is refused a lock that is free breaks what every lock promises.
func TestCalmTrialsFindARefusal(t *testing.T) {
	l := testruns.Kind(t, "broken/wedged-after-release")
	for trial := range search.CalmTrials(l, discovered(t, l, spaces.Space{})) {
		if slices.ContainsFunc(trial.Violations, func(v outcome.Violation) bool { return v.Label == checker.Stuck }) {
			return
		}
	}
	t.Error("no client was refused")
}
