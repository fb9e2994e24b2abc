package play_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// labels plays a scenario over seeds 1 to 20 under one mode, and returns how often each label came up.
func labels(t *testing.T, sc *file.Scenario, l subject.Lock, mode fence.Mode) map[checker.Label]int {
	t.Helper()
	got := map[checker.Label]int{}
	for seed := uint64(1); seed <= 20; seed++ {
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{mode}}).Modes[0]
		got[m.Verdict.Label]++
	}
	return got
}

// If a stale write corrupts the data without a fence, each of the fencing modes
// saves it, with and without tokens.
func TestEveryModeSavesTheData(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for _, tc := range []struct {
		kind  string
		modes []fence.Mode
	}{
		{"fenced", []fence.Mode{fence.Seal, fence.Strict, fence.Claim, fence.CAS}},
		{"single", []fence.Mode{fence.Claim, fence.CAS}},
	} {
		for _, name := range []string{"gc-pause", "late-packet"} {
			sc, _ := testruns.Load(t, name)
			l, err := redislocks.Kind(tc.kind)
			if err != nil {
				t.Fatal(err)
			}
			if none := labels(t, sc, l, fence.None); none[checker.Corrupted] != 20 {
				t.Fatalf("%s, lock %s, mode none: %v: nothing to save", name, tc.kind, none)
			}
			for _, mode := range tc.modes {
				if got := labels(t, sc, l, mode); got[checker.Rescued] != 20 {
					t.Errorf("%s, lock %s, mode %s: %v, want rescued in all 20", name, tc.kind, mode, got)
				}
			}
		}
	}
}

// Without faults no mode refuses anything.
func TestNoModeRefusesInCalm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	sc, l := testruns.Load(t, "calm")
	for _, mode := range fence.Modes() {
		if got := labels(t, sc, l, mode); got[checker.Safe] != 20 {
			t.Errorf("mode %s: %v, want safe in all 20", mode, got)
		}
	}
}

// By default a lock is run in the modes that it can be used with: one that mints no tokens in none, claim and cas.
func TestDefaultModesFollowTheLock(t *testing.T) {
	for kind, want := range map[string][]fence.Mode{
		"fenced": {fence.None, fence.Check, fence.Seal}, "single": {fence.None, fence.Claim, fence.CAS},
		"redlock": {fence.None, fence.Claim, fence.CAS},
	} {
		sc, _ := testruns.Load(t, "calm")
		o := testruns.Play(t, sc, testruns.Kind(t, kind), play.RunOptions{Seed: 1})
		var got []fence.Mode
		for _, m := range o.Modes {
			got = append(got, m.Mode)
			if m.Verdict.Label == checker.NotApplicable {
				t.Errorf("lock %s, mode %s was not run", kind, m.Mode)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("lock %s is run in %v, want %v", kind, got, want)
		}
	}
}
