package etcdlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// The fences give no wrong answer.
func TestFences(t *testing.T) {
	for _, rule := range []fence.Mode{fence.Check, fence.Seal} {
		t.Run(string(rule), func(t *testing.T) {
			scenarios.CheckFence(t, etcdlocks.Fence(rule), scenarios.Options{Seed: 1, Runs: testruns.Soak(t, 600, 0.02),
				Dir: t.TempDir()})
		})
	}
}
