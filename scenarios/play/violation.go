package play

import (
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
)

// Violation is a way in which a lock broke its promise.
type Violation struct {
	// Mode is the run in which it happened.
	Mode fence.Mode `json:"mode"`
	// Label is the kind: overlap for claims that overlapped, stuck, false-reject
	// or corrupted. The verdict of the run has the reasons.
	Label checker.Label `json:"label"`
}

// String is "overlap in mode none".
func (v Violation) String() string { return fmt.Sprintf("%s in mode %s", v.Label, v.Mode) }

// Violations judges the runs of an outcome by a promise. In every mode that ran,
// claims must not overlap, and the lock must be free again in the end. In the mode
// for which the lock promises right data, the data must be right, and the fence
// must not refuse the token of a rightful holder. Beliefs may overlap: no lock with
// a lease can prevent the belief of a paused client.
//
// The caller checks that the promise covers the faults of the scenario, by
// [Lock.Promises].
func Violations(o *Outcome, p lock.Promise) []Violation {
	var out []Violation
	for _, m := range o.Modes {
		if m.Trace == nil {
			continue
		}
		for _, label := range against(m, p) {
			out = append(out, Violation{m.Mode, label})
		}
	}
	return out
}

// against are the labels of the violations in a run.
func against(m ModeRun, p lock.Promise) []checker.Label {
	var out []checker.Label
	facts := m.Verdict.Facts
	promised := string(m.Mode) == p.Data || m.History.Calm
	if promised && facts.Data == checker.DataCorrupted {
		out = append(out, checker.Corrupted)
	}
	if facts.Liveness != checker.LivenessOK || facts.Overdue > 0 {
		out = append(out, checker.Stuck)
	}
	if promised && m.Mode.NeedsToken() && facts.FalseRejects > 0 {
		out = append(out, checker.FalseReject)
	}
	if facts.VoidGrants > 0 {
		out = append(out, checker.Void)
	}
	if facts.RevivedClaims > 0 {
		out = append(out, checker.Revived)
	}
	if facts.ClaimOverlaps > 0 {
		out = append(out, checker.Overlap)
	}
	return out
}

// ActedDuringPause is why a run with partial pauses is no evidence.
const ActedDuringPause = "the lock acted during a pause"

// Vacuous says why a run without a violation is no evidence, or is empty: no client
// ever waited for another, no fault of the schedule struck, the lock acted during a
// pause through timers that no seam holds, or the data is undecided. A fault that
// did not strike had no effect on the run, which is then a run of the schedule
// without it.
func Vacuous(o *Outcome) string {
	for _, m := range o.Modes {
		switch {
		case m.Trace == nil:
		case m.Verdict.Facts.Contended == 0:
			return "nobody contended"
		case len(m.FaultsFired) > 0 && !slices.Contains(m.FaultsFired, true):
			return "no fault struck"
		case m.PartialPause:
			return ActedDuringPause
		case m.Verdict.Facts.Data == checker.DataUndecided:
			return "the data is undecided"
		}
	}
	return ""
}
