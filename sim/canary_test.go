package sim_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"locksim/sim"
)

// TestPlainBinary shows that this toolchain runs bubbles outside go test, as
// the locksim command needs it: two equal runs in virtual time, and a leak that
// is an error and not a crash.
func TestPlainBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a binary")
	}
	out, err := exec.Command("go", "run", "./testdata/canary").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 || lines[0] != lines[1] || !strings.HasSuffix(lines[0], " true") || lines[2] != "leak: true" {
		t.Errorf("it printed\n%s", out)
	}
}

// TestToolchain shows the error for a toolchain whose synctest panics, does
// nothing, or hangs outside go test.
func TestToolchain(t *testing.T) {
	for name, open := range map[string]func(func()){
		"panics":       func(func()) { panic("testing: not started") },
		"does nothing": func(func()) {},
		"hangs":        func(func()) { select {} },
	} {
		t.Run(name, func(t *testing.T) {
			res, err := sim.RunIn(open, func(*sim.World) error { return nil })
			if res != nil || !errors.Is(err, sim.ErrToolchain) {
				t.Errorf("%v, %v; want ErrToolchain", res, err)
			}
		})
	}
}
