package reviews

import (
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
)

// The effect of a fence follows from its label and the label without a fence.
func TestEffectOf(t *testing.T) {
	for _, tc := range []struct {
		without, with checker.Label
		want          FenceEffect
	}{
		{checker.Corrupted, checker.Rescued, FenceRescues},
		{checker.Corrupted, checker.Safe, FenceRescues},
		{checker.Corrupted, checker.Overlap, FenceRescues},
		{checker.Corrupted, checker.FalseReject, FenceCosts},
		{checker.Corrupted, checker.Stuck, FenceCosts},
		{checker.Corrupted, checker.Corrupted, FenceFails},
		{checker.Stuck, checker.Stuck, FenceFails},
		{checker.Stuck, checker.FalseReject, FenceFails},
		{checker.Safe, checker.FalseReject, FenceHarms},
		{checker.Overlap, checker.Corrupted, FenceHarms},
		{checker.Overlap, checker.Overlap, FenceIdle},
		{checker.Safe, checker.Safe, FenceIdle},
		{checker.Unknown, checker.Safe, FenceUndecided},
		{checker.Corrupted, checker.Unknown, FenceUndecided},
		{checker.Corrupted, checker.NotApplicable, FenceNeedsTokens},
	} {
		if got := EffectOf(tc.without, tc.with); got != tc.want {
			t.Errorf("%s without a fence, %s with one: %s, want %s", tc.without, tc.with, got, tc.want)
		}
	}
}

// Data that is lost only because there is no fence is no failing of a lock;
// everything else is.
func TestUnfenced(t *testing.T) {
	none := func(labels ...checker.Label) *Failure {
		b := &Failure{}
		for _, l := range labels {
			b.Violations = append(b.Violations, outcome.Violation{Mode: fence.None, Label: l})
		}
		return b
	}
	sealed := &Failure{Failure: failure.Failure{Violations: []outcome.Violation{{Mode: fence.Seal,
		Label: checker.Corrupted}}}}
	if !none(checker.Corrupted).unfenced() {
		t.Error("data lost without a fence is counted as the lock's failing")
	}
	for _, b := range []*Failure{none(checker.Corrupted, checker.Overlap), none(checker.Stuck), none(checker.Overlap),
		sealed} {
		if b.unfenced() {
			t.Errorf("%v is not counted as the lock's failing", b.Violations)
		}
	}
	f := Figures{Seen: map[lock.Fault]int{}}
	broken, lost := none(checker.Overlap), none(checker.Corrupted)
	broken.Shape, lost.Shape = "broken", "lost"
	f.count(&Review{Failures: []Failure{*broken, *lost}})
	if len(f.Faultless) != 1 || f.Faultless[0] != "broken" || len(f.Outlived) != 1 || f.Outlived[0] != "lost" {
		t.Errorf("faultless %v, outlived %v", f.Faultless, f.Outlived)
	}
}
