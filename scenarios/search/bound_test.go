package search_test

import (
	"math"
	"testing"

	"locksim/scenarios/search"
)

// The bound without violations is exact, 1 - 0.05^(1/n), and nearly 3/n; with
// some it is that of published tables.
func TestRateBound(t *testing.T) {
	for _, c := range []struct {
		violations, runs int
		want             float64
	}{
		{0, 0, 1}, {1, 1, 1}, {0, 1, 0.95}, {0, 100, 0.029513}, {0, 20_000, 0.00014978}, {1, 20, 0.216106}, {5, 100, 0.102253}, {10, 10, 1},
	} {
		if got := search.RateBound(c.violations, c.runs); math.Abs(got-c.want) > c.want*1e-4 {
			t.Errorf("%d of %d: %v, want %v", c.violations, c.runs, got, c.want)
		}
	}
	for _, n := range []int{10, 1000, 1_000_000} {
		if got, want := search.RateBound(0, n), 1-math.Pow(0.05, 1/float64(n)); math.Abs(got-want) > 1e-9 {
			t.Errorf("0 of %d: %v, want %v", n, got, want)
		}
	}
}
