package sentinellocks_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/sentinellocks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKnownElsewhere(t *testing.T) {
	testruns.KnownElsewhere(t, sentinellocks.All(), "locksim/scenarios/sentinellocks")
}

func TestScenarios(t *testing.T) { testruns.MeetExpectations(t, sentinellocks.All()) }

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and each
// lock that it names. LOCKSIM_SOAK=10 is 300 seeds.
func TestEqualInFreshProcesses(t *testing.T) { testruns.EqualRuns(t, sentinellocks.All()) }

// The locks keep their promises. With LOCKSIM_SOAK=1 it is 2,000 runs each.
func TestLocks(t *testing.T) {
	runs := 20
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		runs = 2000
	}
	for _, name := range []string{"single", "fenced"} {
		t.Run(name, func(t *testing.T) {
			scenarios.Check(t, sentinellocks.Lock(name), scenarios.Options{Runs: runs, Seed: 1, Dir: t.TempDir()})
		})
	}
}
