package natskv_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksim/examples/leases/internal/leasetest"
	"locksim/examples/leases/natskv"
	"locksim/internal/overlay"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/sim"
)

const powerLoss = "power/nats-power.yaml"

// A program that does not know what is on a disk plays no loss of power, and says why.
func TestPowerIsRefused(t *testing.T) {
	if sim.Overlaid() {
		t.Skip("this program knows it")
	}
	data, err := os.ReadFile(powerLoss)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []scenarios.Lock{natskv.File(), natskv.Sync()} {
		sc, err := scenarios.Parse(powerLoss, data, natskv.All()...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1})
		if wrong, ok := errors.AsType[*file.InputError](err); !ok || wrong.Pos.Line == 0 ||
			!strings.Contains(err.Error(), "n0 cannot lose its power with lock "+l.Name) ||
			!strings.Contains(err.Error(), "go build $(locksim overlay)") {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
}

// A crash of the process loses nothing, which the lock promises whose files are not synchronised. In the short test
// nats-kill shows it.
func TestFilesOutliveTheProcess(t *testing.T) {
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		t.Skip("it is a long search: LOCKSIM_SOAK=1 makes it")
	}
	scenarios.Check(t, natskv.File(), scenarios.Options{Runs: 500, Seed: 1, Faults: []lock.Fault{lock.FaultNodeCrash}})
}

// The classes of crashes and of losses of power are two: the one whose files are not synchronised promises one of them.
func TestPromisesAboutCrashes(t *testing.T) {
	for _, tc := range []struct {
		lock         scenarios.Lock
		crash, power bool
	}{{natskv.KV(), false, false}, {natskv.File(), true, false}, {natskv.Sync(), true, true}} {
		promised := tc.lock.Promise.Exclusion
		if got := slices.Contains(promised, lock.FaultNodeCrash); got != tc.crash {
			t.Errorf("%s promises node-crash: %v", tc.lock.Name, got)
		}
		if got := slices.Contains(promised, lock.FaultNodePower); got != tc.power {
			t.Errorf("%s promises node-power: %v", tc.lock.Name, got)
		}
	}
}

// promising is a lock that is judged by what [natskv.Sync] promises.
func promising(l scenarios.Lock) scenarios.Lock {
	l.Promise = natskv.Sync().Promise
	return l
}

// In a program with the overlay, a loss of power is played.
func TestWithOverlay(t *testing.T) {
	if os.Getenv("LOCKSIM_SOAK") != "1" || sim.Overlaid() {
		t.Skip("it compiles the standard library and nats-server anew: LOCKSIM_SOAK=1 does")
	}
	found, err := overlay.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path, err := overlay.Make(filepath.Join(cache, "locksim", "overlay"), found)
	if err != nil {
		t.Fatal(err)
	}
	test := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay="+path, "-run=^TestOverlay", "-v", ".")
	out, err := test.CombinedOutput()
	passed := strings.Count(string(out), "\n--- PASS: TestOverlay")
	if err != nil || passed < 4 || strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%d tests passed: %v\n%s", passed, err, out)
	}
}

func needsOverlay(t *testing.T) {
	t.Helper()
	if !sim.Overlaid() {
		t.Skip("built without the overlay: TestWithOverlay runs this test with it")
	}
}

// A loss of power ends as the file expects.
func TestOverlayPowerLoss(t *testing.T) {
	needsOverlay(t)
	leasetest.ScenariosIn(t, "power", natskv.All())
}

// Runs with a loss of power are equal, on one processor and on two.
func TestOverlayRepeats(t *testing.T) {
	needsOverlay(t)
	for _, l := range []scenarios.Lock{natskv.File(), natskv.Sync()} {
		leasetest.Repeats(t, powerLoss, l, 100)
	}
}

// No run breaks the promise of the lock whose files are synchronised before an answer, also where its server loses
// power.
func TestOverlaySync(t *testing.T) {
	needsOverlay(t)
	for _, faults := range [][]lock.Fault{nil, {lock.FaultNodePower}} {
		scenarios.Check(t, natskv.Sync(), scenarios.Options{Runs: 500, Seed: 1, Faults: faults})
	}
}

// Check finds that files which are synchronised every two minutes break that promise.
func TestOverlayFilesLose(t *testing.T) {
	needsOverlay(t)
	l := promising(natskv.File())
	text := leasetest.Fails(t, l)
	if !strings.Contains(text, l.Name+" fails") || !strings.Contains(text, "CRASHES: power") {
		t.Errorf("it fails by something else:\n%s", text)
	}
}
