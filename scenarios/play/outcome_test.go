package play_test

import (
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// A label of live runs that no simulated run has is not as expected, a milder one too, and in a mode of which the
// scenario expects nothing; one that is explained is.
func TestMismatchesOfLiveRuns(t *testing.T) {
	milder := outcome.Difference{Mode: fence.None, Live: map[checker.Label]int{checker.Corrupted: 1, checker.Safe: 2},
		Simulated: map[checker.Label]int{checker.Corrupted: 16, checker.Rescued: 4}}
	explained := milder
	explained.Why = "the machine was late"
	other := milder
	other.Mode = fence.Claim
	o := &outcome.Outcome{
		Scenario: &file.Scenario{Expect: map[string]map[fence.Mode]checker.Label{"l": {fence.None: checker.Corrupted}}},
		Lock:     "l",
		Modes: []outcome.ModeRun{{Mode: fence.None, Verdict: checker.Verdict{Label: checker.Corrupted}},
			{Mode: fence.Claim, Verdict: checker.Verdict{Label: checker.Corrupted}}},
	}
	for name, c := range map[string]struct {
		live *outcome.Live
		want []string
	}{
		"simulated":     {nil, nil},
		"no difference": {&outcome.Live{}, nil},
		"explained":     {&outcome.Live{Differences: []outcome.Difference{explained}}, nil},
		"milder": {&outcome.Live{Differences: []outcome.Difference{milder}},
			[]string{"mode none is safe in 2 of 3 live runs, and never in the simulated world (20 seeds: corrupted 16, " +
				"rescued 4): give a larger --scale"}},
		"nothing is said": {&outcome.Live{Differences: []outcome.Difference{explained, other}},
			[]string{"mode claim is safe in 2 of 3"}},
	} {
		o.Live = c.live
		got := o.Mismatches()
		if len(got) != len(c.want) || outcome.NewRunFile(o).Expected != (len(c.want) == 0) {
			t.Errorf("%s: %v", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i].String(), want) {
				t.Errorf("%s: %v, want %s", name, got[i], want)
			}
		}
	}
}
