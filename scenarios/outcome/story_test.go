package outcome

import (
	"testing"

	"locksim/checker"
	"locksim/sim/trace"
)

// The outcomes of a write are those of the checker.
func TestStoryOfAWrite(t *testing.T) {
	for outcome, want := range map[checker.Outcome]string{
		"":                     "",
		checker.OutcomeRefused: "has its write refused",
		checker.OutcomeUnknown: "has no answer to its write",
		checker.OutcomeNotSent: "cannot send its write",
		checker.OutcomeFailed:  "has its write failed",
	} {
		e := trace.Event{Actor: "c0", What: trace.Mark{Step: trace.Written, Op: "c0.w1", Outcome: string(outcome)}}
		if got := phrase(e, trace.View{}); got != want {
			t.Errorf("%q: %q, want %q", outcome, got, want)
		}
	}
}

// A notice that comes after the client has begun to release is no news, until the next grant.
func TestStoryOfNotices(t *testing.T) {
	seen := func(step trace.Step) trace.Event {
		return trace.Event{Actor: "c0", What: trace.Mark{Step: step, Resource: "order"}}
	}
	for care, want := range map[checker.Care]string{
		checker.CareLost:  "learns that it has lost the lock",
		checker.CareSteps: "learns that it has lost the lock",
		checker.CareNever: "is told by the lock that its lease has ended, but does not look before it writes",
	} {
		n := notices{care: care, releasing: map[[2]string]bool{}}
		for _, round := range []string{"first", "second"} {
			n.phrase(seen(trace.Granted))
			if got := n.phrase(seen(trace.LostSeen)); got != want {
				t.Errorf("%v, %s round: %q, want %q", care, round, got, want)
			}
			n.phrase(seen(trace.Release))
			if got := n.phrase(seen(trace.LostSeen)); got != "" {
				t.Errorf("%v, %s round, after the release: %q", care, round, got)
			}
		}
	}
}
