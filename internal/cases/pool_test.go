package cases_test

import (
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/play"
	"locksim/sim/postgres"
)

// A lock that locks and unlocks on any connection of its pool is found with the promise that the documentation gives
// for locks of a session.
func TestOnThePool(t *testing.T) {
	if err := postgres.Missing(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("it takes some runs of a database")
	}
	l := find(t, "s14-on-the-pool")
	l.Promise = lock.SessionPromise()
	l.Promise.Duties = nil // the context of its leases lacks the values of that of Acquire, which would be found first
	runs, found, tally := tried(t, l, 100)
	if found == nil || found.Violations[0].Label != checker.Stuck {
		t.Fatalf("%d runs, %v: %v", runs, found, tally.ByCall())
	}
	t.Logf("run %d: %v: %s", runs, found.Violations, found.Outcome.Modes[0].Verdict.Reasons[0].Text)
}

// A resignation of etcd's library that fails forgets its key, and the lock stays taken.
func TestResignForgets(t *testing.T) {
	l := etcdlocks.Election()
	out, err := play.Run(load(t, "resign-forgets", l), l, play.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Modes {
		if m.Verdict.Label != checker.Stuck {
			t.Errorf("%s: %s", m.Mode, m.Verdict.Label)
		}
	}
}
