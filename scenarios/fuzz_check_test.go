package scenarios_test

import (
	"testing"

	"locksim/scenarios"
)

// FuzzCheck checks the simplest of our locks against its promise.
func FuzzCheck(f *testing.F) {
	single, err := scenarios.Kind("single")
	if err != nil {
		f.Fatal(err)
	}
	scenarios.Fuzz(f, single, scenarios.Options{})
}
