// Package soak has the tests that make soak plays, and neither make test nor make test-modules.
package soak

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// variable is the part of the long tests that is played, such as 1 or 0.05.
const variable = "LOCKSIM_SOAK"

// Only skips a test unless LOCKSIM_SOAK is set, as it is by make soak, and by .ci/run. The reason says why the test is
// none of theirs, such as "it takes many runs".
func Only(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skipf("%s: make soak does it, %s is not set", reason, variable)
	}
}

// RealTime is [Only] for a test that plays in real time, on real servers or in processes: whatever else the machine
// does delays it.
func RealTime(t testing.TB) {
	t.Helper()
	Only(t, "it plays in real time")
}

// Checks lets rapid make n checks in a test. In a soak it makes a hundred, or as many as -rapid.checks says.
func Checks(t testing.TB, n int) {
	t.Helper()
	if os.Getenv(variable) != "" {
		return
	}
	const checks = "rapid.checks"
	before := flag.Lookup(checks).Value.String()
	t.Cleanup(func() { _ = flag.Set(checks, before) })
	if err := flag.Set(checks, strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
}
