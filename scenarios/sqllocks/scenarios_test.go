package sqllocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sqllocks"
)

func TestScenarios(t *testing.T) {
	testruns.NeedsPostgres(t)
	testruns.MeetExpectations(t, sqllocks.All())
}

// own reports whether the lock is that of the scenario.
func own(p testruns.Pair) bool { return p.Scenario.Lock.Kind == p.Lock.Name }

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and its own
// lock, on a server that has served other worlds and, in the second process, on a fresh one now and then.
// LOCKSIM_SOAK=10 is 200 seeds.
func TestEqualInFreshProcesses(t *testing.T) {
	testruns.NeedsPostgres(t)
	seeds := testruns.Soak(t, 20, 0.1)
	runs := 0
	testruns.EqualInFreshProcesses(t, seeds, []string{"2", "1"}, func() (all []testruns.Pair) {
		library, err := redislocks.Library(sqllocks.All())
		if err != nil {
			t.Fatal(err)
		}
		for i, sc := range library {
			for _, l := range sqllocks.All() {
				// each second one will do for a few seeds
				if p := (testruns.Pair{Scenario: sc, Lock: l}); own(p) && (seeds > 5 || i%2 == 0) {
					all = append(all, p)
				}
			}
		}
		return all
	}, func(process int, _ uint64) {
		if runs++; process == 1 && runs%10 == 1 {
			if err := sqllocks.Stop(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
