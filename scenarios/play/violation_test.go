package play_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// ran is a run of a mode with the given facts.
func ran(mode fence.Mode, f checker.Facts) play.ModeRun {
	if f.Liveness == "" {
		f.Liveness = checker.LivenessOK
	}
	if f.Data == "" {
		f.Data = checker.DataRight
	}
	return play.ModeRun{Mode: mode, Verdict: checker.Verdict{Facts: f}, Trace: &trace.Trace{}}
}

// Each fact counts in the modes that the promise covers.
func TestViolations(t *testing.T) {
	seal, claim := lock.Promise{Data: "seal"}, lock.Promise{Data: "claim"}
	for _, c := range []struct {
		name    string
		promise lock.Promise
		run     play.ModeRun
		want    []play.Violation
	}{
		{"right", seal, ran(fence.Seal, checker.Facts{}), nil},
		{"claims overlap", claim, ran(fence.None, checker.Facts{ClaimOverlaps: 1}), []play.Violation{{fence.None, checker.Overlap}}},
		{"beliefs overlap", claim, ran(fence.None, checker.Facts{BeliefOverlaps: 1}), nil},
		{"stuck", claim, ran(fence.None, checker.Facts{Liveness: checker.LivenessStuck}), []play.Violation{{fence.None, checker.Stuck}}},
		{"leaked", seal, ran(fence.Seal, checker.Facts{Liveness: checker.LivenessLeaked}), []play.Violation{{fence.Seal, checker.Stuck}}},
		{"corrupted without a fence", seal, ran(fence.None, checker.Facts{Data: checker.DataCorrupted}), nil},
		{"corrupted behind the fence", seal, ran(fence.Seal, checker.Facts{Data: checker.DataCorrupted}), []play.Violation{{fence.Seal, checker.Corrupted}}},
		{"corrupted behind a weaker fence", seal, ran(fence.Check, checker.Facts{Data: checker.DataCorrupted}), nil},
		{"corrupted behind claims", claim, ran(fence.Claim, checker.Facts{Data: checker.DataCorrupted}), []play.Violation{{fence.Claim, checker.Corrupted}}},
		{"rightful holder refused", seal, ran(fence.Seal, checker.Facts{FalseRejects: 1}), []play.Violation{{fence.Seal, checker.FalseReject}}},
		{"refused without a token", claim, ran(fence.Claim, checker.Facts{FalseRejects: 1}), nil},
		{"not run", seal, play.ModeRun{Mode: fence.Seal, Verdict: checker.Verdict{Label: checker.NotApplicable}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, play.Violations(&play.Outcome{Modes: []play.ModeRun{c.run}}, c.promise)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVacuous(t *testing.T) {
	fired := func(all ...bool) play.ModeRun {
		m := ran(fence.None, checker.Facts{Contended: 1})
		m.FaultsFired = all
		return m
	}
	partial := fired()
	partial.PartialPause = true
	for _, c := range []struct {
		want string
		runs []play.ModeRun
	}{
		{"", []play.ModeRun{fired(), fired(true, true)}},
		{"", []play.ModeRun{fired(true, false)}},
		{"", []play.ModeRun{fired(), {Mode: fence.Seal}}},
		{"nobody contended", []play.ModeRun{fired(), ran(fence.Seal, checker.Facts{})}},
		{"no fault struck", []play.ModeRun{fired(false, false)}},
		{"the lock acted during a pause", []play.ModeRun{partial}},
		{"the data is undecided", []play.ModeRun{ran(fence.None, checker.Facts{Contended: 1, Data: checker.DataUndecided})}},
	} {
		if got := play.Vacuous(&play.Outcome{Modes: c.runs}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
