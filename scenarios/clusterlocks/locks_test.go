package clusterlocks_test

import (
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/clusterlocks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKnownElsewhere(t *testing.T) {
	testruns.KnownElsewhere(t, clusterlocks.All(), "locksim/scenarios/clusterlocks")
}

func TestScenarios(t *testing.T) { testruns.MeetExpectations(t, clusterlocks.All()) }

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and each
// lock that it names. LOCKSIM_SOAK=10 is 300 seeds.
func TestEqualInFreshProcesses(t *testing.T) { testruns.EqualRuns(t, clusterlocks.All()) }

// The locks keep their promises: 2,000 runs of each, times LOCKSIM_SOAK. Without it that without tokens, which asks the
// servers for less, makes two.
func TestLocks(t *testing.T) {
	for name, part := range map[string]float64{"single": 0, "fenced": 0.008} {
		runs := testruns.Soak(t, 2000, part)
		t.Run(name, func(t *testing.T) {
			scenarios.Check(t, clusterlocks.Lock(name), scenarios.Options{Runs: runs, Seed: 1, Dir: t.TempDir()})
		})
	}
}
