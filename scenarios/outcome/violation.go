package outcome

import (
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
)

// Violation is a way in which a lock broke its promise.
type Violation struct {
	// Mode is the run in which it happened.
	Mode fence.Mode `json:"mode"`
	// Label is the kind: overlap for claims that overlapped, panicked, stuck, hung, void, revived,
	// misconduct, overtaken, repeated, regressed, false-reject or corrupted. The verdict of the run has the reasons.
	Label checker.Label `json:"label"`
}

// String is "overlap in mode none".
func (v Violation) String() string { return fmt.Sprintf("%s in mode %s", v.Label, v.Mode) }

// Violations judges the runs of an outcome by a promise. In every mode that ran,
// claims must not overlap, tokens must grow unless the promise says otherwise, the lock
// must be free again in the end, and no work that it guards may be done twice: fencing
// protects the store, not the work. In the mode
// for which the lock promises right data, the data must be right, and the fence
// must not refuse the token of a rightful holder. Beliefs may overlap: no lock with
// a lease can prevent the belief of a paused client.
//
// The caller checks that the promise covers the faults of the scenario, by
// [Lock.Promises].
func Violations(o *Outcome, p promise.Promise) []Violation {
	var out []Violation
	for _, m := range o.Modes {
		if m.Trace == nil {
			continue
		}
		for _, label := range against(m, excused(o, p)) {
			out = append(out, Violation{m.Mode, label})
		}
	}
	return out
}

// excused is the promise with what it allows where the client of the lock sends a request again by itself.
func excused(o *Outcome, p promise.Promise) promise.Promise {
	p.SelfExcludes = p.SelfExcludes || p.ResendExcludes && o.Scenario != nil && o.Scenario.Lock.Client == file.ClientStock
	return p
}

// against are the labels of the violations in a run.
func against(m ModeRun, p promise.Promise) []checker.Label {
	return m.Verdict.Facts.Broken(checker.Asked{Promise: p, Mode: m.Mode, Calm: m.History.Calm, Hung: m.Hung,
		Ownerless: m.History.Entry == checker.EntryOwnerless})
}

// The reasons of Vacuous that callers tell apart.
const (
	// ActedDuringPause is why a run with partial pauses is no evidence.
	ActedDuringPause = "the lock acted during a pause"
	// NotFelt is why a run is no evidence whose faults struck, and had no effect.
	NotFelt = "no fault was felt"
)

// Vacuous says why a run without a violation is no evidence, or is empty. It is
// evidence if two clients met, which means that one of them was kept out by a claim
// of the other, and if a fault of the schedule was felt, where there are any: see
// [locksim/scenarios/play.Stage.Faults]. A fault that was not felt had no effect on the run, which is then
// a run of the schedule without it. A run in which the lock acted during a pause,
// through timers that no seam holds, is no evidence either.
func Vacuous(o *Outcome) string {
	for _, m := range o.Modes {
		f := m.Verdict.Facts
		switch {
		case m.Trace == nil:
		case m.History.Fence != "":
			if why := m.untroubled(); why != "" {
				return why
			}
		case f.Grants == 0:
			return "no client was granted the lock"
		case m.History.Entry == checker.EntryOwnerless:
			return "a client took a lock again that it had, and which has no owners"
		case f.Holders == 0:
			return "every grant came too late"
		case f.Holders == 1:
			return "one client alone held the lock"
		case f.Contended == 0:
			return "no client was kept out"
		case len(m.FaultsFired) > 0 && !slices.Contains(m.FaultsFired, true):
			return "no fault struck"
		case len(m.FaultsFelt) > 0 && !slices.Contains(m.FaultsFelt, true):
			return NotFelt
		case m.PartialPause:
			return ActedDuringPause
		case f.Data == checker.DataUndecided:
			return "the data is undecided"
		}
	}
	return ""
}
