package libraries

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim"
)

// TestMain runs the tests again with the overlay if this program was built without it.
func TestMain(m *testing.M) {
	if sim.Overlaid() {
		os.Exit(m.Run())
	}
	os.Exit(again())
}

func again() int {
	flag, err := exec.Command("go", "tool", "locksim", "overlay").Output()
	if err != nil {
		panic(err)
	}
	args := []string{"test", "-vet=off", strings.TrimSpace(string(flag)), ".", "-args"}
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.testlogfile") {
			args = append(args, a)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

// promise is what a lock with a lease on one node can keep.
var promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultRestart, lock.FaultReset}}

func TestLibraries(t *testing.T) {
	for _, l := range []scenarios.Lock{rueidisLock(true), valkeyLock(), asynqUnique(), overRedigo()} {
		t.Run(l.Name, func(t *testing.T) {
			l.Promise = promise
			scenarios.Check(t, l, scenarios.Options{Runs: 2000, Seed: 1, Dir: t.TempDir()})
		})
	}
}
