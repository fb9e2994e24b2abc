package scenarios_test

import (
	"testing"

	"locksim/scenarios"
)

// FuzzCheck holds the simplest of our locks to its promise.
func FuzzCheck(f *testing.F) {
	single, err := scenarios.Kind("single")
	if err != nil {
		f.Fatal(err)
	}
	scenarios.Fuzz(f, single, scenarios.Options{})
}
