package zklocks_test

import (
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/zklocks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKnownElsewhere(t *testing.T) {
	testruns.KnownElsewhere(t, zklocks.All(), "locksim/scenarios/zklocks")
}

func TestScenarios(t *testing.T) { testruns.MeetExpectations(t, zklocks.All()) }

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and each
// lock that it names. LOCKSIM_SOAK=10 is 300 seeds.
func TestEqualInFreshProcesses(t *testing.T) { testruns.EqualRuns(t, zklocks.All()) }

// The lock keeps its promise, of order too. With LOCKSIM_SOAK=1 it is 5,000 runs.
func TestLock(t *testing.T) {
	scenarios.Check(t, zklocks.Lock(), scenarios.Options{Runs: testruns.Soak(t, 5000, 0.008), Seed: 1, Dir: t.TempDir()})
}
