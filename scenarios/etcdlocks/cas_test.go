package etcdlocks_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// Without a lock a paused client overwrites what others have written, unless its transaction compares the revision that
// it has read. Nobody is kept out, and nothing counts as an overlap.
func TestCompareAndSet(t *testing.T) {
	sc, _ := testruns.Load(t, "gc-pause")
	o := testruns.Play(t, sc, etcdlocks.CompareAndSet(), scenarios.RunOptions{Seed: 1,
		Modes: []fence.Mode{fence.None, fence.CAS}})
	for i, want := range []checker.Label{checker.Corrupted, checker.Rescued} {
		m := o.Modes[i]
		if f := m.Verdict.Facts; m.Verdict.Label != want || f.ClaimOverlaps+f.BeliefOverlaps+f.FalseRejects > 0 {
			t.Errorf("mode %s: %s, %+v", m.Mode, m.Verdict.Label, f)
		}
	}
}

// Nothing breaks the promise. With LOCKSIM_SOAK=1 it is 5,000 runs.
func TestCompareAndSetKeepsItsPromise(t *testing.T) {
	scenarios.Check(t, etcdlocks.CompareAndSet(), scenarios.Options{Runs: testruns.Soak(t, 5000, 0.01), Seed: 1,
		Dir: t.TempDir()})
}
