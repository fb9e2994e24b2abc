package scenarios

import (
	"testing"

	"locksim/checker"
)

// What a fence did is seen by comparing the label with that of no fence.
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
		if got := effectOf(tc.without, tc.with); got != tc.want {
			t.Errorf("%s without a fence, %s with one: %s, want %s", tc.without, tc.with, got, tc.want)
		}
	}
}

// A name is no pattern: it fits itself alone.
func TestLiterally(t *testing.T) {
	for _, name := range []string{"single", "a*b", "a[0]", `back\slash`, "what?"} {
		if !fits(literally(name), name) || fits(literally(name), name+"x") || fits(literally("a*b"), "aXb") {
			t.Errorf("the pattern %q is not %q alone", literally(name), name)
		}
	}
}
