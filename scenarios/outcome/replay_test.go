package outcome_test

import (
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// A stored run that did harm is mended if no mode does harm now, and its faults have struck again.
func TestMended(t *testing.T) {
	run := func(label checker.Label, claims, fired int) *outcome.RunFile {
		return &outcome.RunFile{Lock: "mylock", Seed: 7, Modes: map[fence.Mode]outcome.ModeFile{
			fence.None: {Verdict: label, Facts: &checker.Facts{ClaimOverlaps: claims}, Faults: 2, FaultsFired: fired},
			fence.Seal: {Verdict: checker.Safe, Facts: &checker.Facts{}},
		}}
	}
	for name, tt := range map[string]struct {
		was, is *outcome.RunFile
		mended  bool
	}{
		"it is safe":                         {run(checker.Corrupted, 1, 2), run(checker.Safe, 0, 2), true},
		"only beliefs overlap":               {run(checker.Overlap, 1, 2), run(checker.Overlap, 0, 2), true},
		"claims overlap still":               {run(checker.Corrupted, 1, 2), run(checker.Overlap, 1, 2), false},
		"another harm":                       {run(checker.Corrupted, 1, 2), run(checker.Stuck, 0, 2), false},
		"a fault does not strike any more":   {run(checker.Corrupted, 1, 2), run(checker.Safe, 0, 1), false},
		"it was safe before":                 {run(checker.Safe, 0, 2), run(checker.Safe, 0, 2), false},
		"it is undecided":                    {run(checker.Corrupted, 1, 2), run(checker.Unknown, 0, 2), false},
		"a fence refused what was stale now": {run(checker.Corrupted, 1, 2), run(checker.Rescued, 0, 2), true},
	} {
		got := tt.was.Mended(tt.is)
		if (got != "") != tt.mended || tt.mended && !strings.HasPrefix(got, "now safe: ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := run(checker.Corrupted, 1, 2).WorstMode(); got != fence.None {
		t.Errorf("the worst mode is %s", got)
	}
}

// A stored run is a failure if a search has found it, or if it is worse than its scenario expects.
func TestFailed(t *testing.T) {
	for name, tt := range map[string]struct {
		run  outcome.RunFile
		want bool
	}{
		"as expected":         {outcome.RunFile{Expected: true}, false},
		"worse than expected": {outcome.RunFile{}, true},
		"found by a search": {outcome.RunFile{Expected: true,
			Violations: []outcome.Violation{{Mode: fence.None, Label: checker.Overlap}}}, true},
	} {
		if got := tt.run.Failed(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A run in which nobody had the lock was called safe once: an expectation of that is told the new label.
func TestAnOldLabelIsToldTheNewOne(t *testing.T) {
	const want = "mode none is untested, and safe was expected: what was called safe is called untested now where no " +
		"client was ever granted the lock: expect untested if that is meant"
	if got := (outcome.Mismatch{Mode: fence.None, Got: checker.Untested, Want: checker.Safe}).String(); got != want {
		t.Errorf("%q", got)
	}
	if got := (outcome.Mismatch{Mode: fence.None, Got: checker.Stuck, Want: checker.Safe}).String(); strings.Contains(got,
		"now") {
		t.Errorf("%q", got)
	}
}
