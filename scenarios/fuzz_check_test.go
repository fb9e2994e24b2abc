package scenarios_test

import (
	"testing"

	"locksim/scenarios"
)

// FuzzCheck holds the simplest of our locks to its promise.
func FuzzCheck(f *testing.F) {
	scenarios.Fuzz(f, ours(f, "single"), scenarios.Options{})
}
