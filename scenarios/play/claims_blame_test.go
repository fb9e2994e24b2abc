package play_test

import (
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

// That claims overlap after a failover is no fault of a lock that does not promise to survive one, also where that was
// asked of it.
func TestWhatWasAskedIsNoPromiseOfItsOwn(t *testing.T) {
	sc, l := testruns.Load(t, "failover-before-replication")
	out, err := play.Run(sc, l.ClaimsAlone(), play.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, a := range outcome.Answers(out) {
		said[a.Question] = a.Text
	}
	if !strings.HasPrefix(said["At fault"], "The choice of this lock, which does not promise to survive failover") {
		t.Errorf("%q", said)
	}
}
