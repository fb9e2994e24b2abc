package shrink_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/shrink"
)

// A fault that strikes again and again, by chance, strikes for certain in what is minimal: once, or as often as it has
// to.
func TestFewerStrikes(t *testing.T) {
	sc := testruns.Parse(t, `
name: again
faults:
  - {every: 15s, probability: 40, stall: {node: r0, for: 2s}}
`)
	for _, least := range []int{1, 3} {
		small := shrink.Minimize(sc, func(s *file.Scenario) bool {
			return len(s.Faults) == 1 && s.Faults[0].Most() >= least
		})
		f := small.Faults[0]
		if f.Probability != 0 || f.Most() < least || f.Most() > least+1 || least == 1 && f.Every != 0 {
			t.Errorf("where %d strikes are needed: %v", least, f)
		}
	}
}
