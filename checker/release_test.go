package checker_test

import (
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// What a lock announces from the call of Release on is no loss: many libraries close the channel of a lease, or end its
// session, in the release, before its request or after it.
func TestReleaseAnnouncesNothing(t *testing.T) {
	for _, lost := range []checker.Pos{3, 4, 5, 6} {
		h := checker.History{
			Duties: []promise.Duty{promise.DutyReports},
			Grants: []checker.Grant{{ID: 1, Client: "c0", Resource: "r", Invoked: 1, Granted: 2, Released: 3, ReleaseReturned: 5,
				ReleaseSucceeded: true,
				Lost:             lost, LeaseEnded: 3 * time.Second}},
			Timing: &checker.Timing{Steady: true, Prompt: true},
		}
		for n := range 6 {
			h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
		}
		if v, err := checker.Judge(h, nil); err != nil || v.Facts.Misconduct > 0 {
			t.Errorf("a loss at step %d: %v, %v", lost, v.Reasons, err)
		}
	}
}
