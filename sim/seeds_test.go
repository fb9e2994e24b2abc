package sim_test

import "testing"

// seeds is how many seeds a test tries: n, or a tenth of it with -short or
// under the race detector, at least 5.
func seeds(n int) int {
	if testing.Short() || raceEnabled {
		return max(n/10, 5)
	}
	return n
}
