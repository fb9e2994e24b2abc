package etcdlocks_test

import (
	"slices"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/play"
)

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and each lock
// that it names. LOCKSIM_SOAK=10 is 300 seeds.
func TestEqualInFreshProcesses(t *testing.T) {
	procs, seeds := []string{"2", "1", "4"}, testruns.Soak(t, 30, 0.04)
	if seeds <= 5 {
		procs = procs[:2]
	}
	testruns.EqualInFreshProcesses(t, seeds, procs, func() (all []testruns.Pair) {
		library, err := play.Library(etcdlocks.All())
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range library {
			for _, l := range etcdlocks.All() {
				if slices.Contains(sc.LockNames(), l.Name) {
					all = append(all, testruns.Pair{Scenario: sc, Lock: l})
				}
			}
		}
		return all
	}, func(int, uint64) {})
}
