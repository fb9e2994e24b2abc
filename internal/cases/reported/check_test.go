package reported_test

import (
	"iter"
	"testing"

	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// failsIn reports whether a lock breaks its promise in calm runs or in the schedules that the first seeds draw.
func failsIn(t *testing.T, l scenarios.Lock, seeds uint64) bool {
	t.Helper()
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	drawn := search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: seeds}))
	for _, trials := range []iter.Seq[*search.Trial]{search.CalmTrials(l, space), drawn} {
		for one := range trials {
			if one.Err != nil {
				t.Fatal(one.Err)
			}
			if len(one.Violations) > 0 {
				return true
			}
		}
	}
	return false
}
