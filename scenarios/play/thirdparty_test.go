package play_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// redsync over three nodes, unmodified, with its draws from the global
// sources: calm is safe, a pause corrupts, and every run is repeatable.
func TestRedsyncUnmodified(t *testing.T) {
	for name, want := range map[string]checker.Label{"calm": checker.Safe, "gc-pause": checker.Corrupted} {
		sc, _ := testruns.Load(t, name)
		worst := checker.Label("")
		for seed := uint64(1); seed <= uint64(testruns.Soak(t, 100, 0.1)); seed++ {
			m := testruns.Play(t, sc, testlocks.Redsync(), play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Repeat: play.Twice}).Modes[0]
			worst = checker.Worse(worst, m.Verdict.Label)
			if m.Verdict.Facts.Contended == 0 {
				t.Errorf("%s seed %d: no client contended", name, seed)
			}
		}
		if worst != want {
			t.Errorf("%s: the worst label is %s, want %s", name, worst, want)
		}
	}
}
