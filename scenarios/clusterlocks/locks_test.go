package clusterlocks_test

import (
	"os"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/testruns"
	"locksim/lock/fence"
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

// A run is the same each time, at one processor and at two: with the clients of go-redis as they come, through a crash,
// and through a slot that moves. With LOCKSIM_SOAK it is a hundred times each.
func TestRepeats(t *testing.T) {
	repeats := 6
	if os.Getenv("LOCKSIM_SOAK") != "" {
		repeats = 100
	}
	for _, c := range []struct{ scenario, lock string }{
		{"cluster-old-map", "fenced"}, {"cluster-grant-lost", "watchdog-fenced"}, {"cluster-moved-slot", "watchdog"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			l := clusterlocks.Lock(c.lock)
			sc, err := scenarios.Load(c.scenario, l)
			if err != nil {
				t.Fatal(err)
			}
			first := ""
			for i := range repeats {
				runtime.GOMAXPROCS(1 + i%2)
				o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 3, Modes: []fence.Mode{fence.None}, Alone: true})
				if err != nil {
					t.Fatal(err)
				}
				if got := o.Modes[0].Trace.Hash(); first == "" {
					first = got
				} else if got != first {
					t.Fatalf("repeat %d differs", i)
				}
			}
		})
	}
}

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
