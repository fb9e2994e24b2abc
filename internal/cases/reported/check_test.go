package reported_test

import (
	"iter"
	"testing"

	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
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

// What renews its lease is asked for that, and a lock that is held until it is told and loses its lease in a run
// without faults fails there.
func TestRenewalIsLearnt(t *testing.T) {
	for name, want := range map[string]struct{ renews, fails bool }{
		"renewed": {renews: true}, "control": {}, "stop-and-timer": {renews: true}, "renewed-every-ttl": {fails: true},
	} {
		l := lockOf(t, name)
		renews, err := play.Renews(l, file.Defaults())
		if err != nil || renews != want.renews {
			t.Errorf("%s renews its lease: %t, %v", name, renews, err)
		}
		if fails := failsIn(t, l, 0); fails != want.fails {
			t.Errorf("%s fails in the runs without faults: %t", name, fails)
		}
	}
}
