package redislocks_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// Without a lock a paused client overwrites what others have written, unless a script compares the version that it has
// read. Nobody is kept out, and nothing counts as an overlap.
func TestCompareAndSet(t *testing.T) {
	sc, _ := testruns.Load(t, "gc-pause")
	o := testruns.Play(t, sc, redislocks.CompareAndSet(), scenarios.RunOptions{Seed: 1, Modes: fence.Modes()})
	want := map[fence.Mode]checker.Label{fence.None: checker.Corrupted, fence.CAS: checker.Rescued}
	for _, m := range o.Modes {
		f := m.Verdict.Facts
		if m.Verdict.Label != want[m.Mode] && want[m.Mode] != "" || f.ClaimOverlaps+f.BeliefOverlaps+f.FalseRejects > 0 {
			t.Errorf("mode %s: %s, %+v", m.Mode, m.Verdict.Label, f)
		}
		if played := m.Trace != nil; played != (want[m.Mode] != "") {
			t.Errorf("mode %s was played: %v", m.Mode, played)
		}
	}
}

// A write that does not compare, although the mode says so, is found.
func TestWriteWithoutAComparisonIsFound(t *testing.T) {
	l := redislocks.CompareAndSet()
	open := l.Data.Open
	l.Name, l.Data.Open = "redis-blind", func(e subject.Env, _ fence.Mode) (subject.Store, error) {
		return open(e, fence.None)
	}
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	for trial := range search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: 50})) {
		if trial.Err != nil {
			t.Fatal(trial.Err)
		}
		if slices.ContainsFunc(trial.Violations, func(v outcome.Violation) bool { return v.Label == checker.Corrupted }) {
			return
		}
	}
	t.Error("no run lost an update")
}

// Nothing breaks the promise, also with a client of the defaults of go-redis in the scenario, which would send a write
// a second time. With LOCKSIM_SOAK=1 it is 20,000 runs.
func TestCompareAndSetKeepsItsPromise(t *testing.T) {
	scenarios.Check(t, redislocks.CompareAndSet(), scenarios.Options{Runs: testruns.Soak(t, 20_000, 0.01), Seed: 1,
		Dir: t.TempDir()})
}

func TestKnownElsewhere(t *testing.T) {
	testruns.KnownElsewhere(t, redislocks.Unlocked(), "locksim/scenarios/redislocks")
}
