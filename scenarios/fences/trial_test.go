package fences_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/broken/fencebroken"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/fences"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// runs is the number of runs of a right fence: that of FENCE_RUNS, or the usual one.
func runs(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("FENCE_RUNS")); err == nil {
		return n
	}
	return usual
}

// The guards of package redisguard give no wrong answer.
func TestRightFencesPass(t *testing.T) {
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		t.Run(string(rule), func(t *testing.T) {
			scenarios.CheckFence(t, fences.Guard(rule), scenarios.Options{Seed: 1, Runs: runs(testruns.Soak(t, 100, 0.2)),
				Dir: t.TempDir()})
		})
	}
}

// Each wrong fence is found within 300 runs from each of three first seeds.
func TestWrongFencesAreFound(t *testing.T) {
	for _, s := range fencebroken.Specimens() {
		t.Run(s.Name, func(t *testing.T) {
			l := fences.Wrong(s).Subject()
			space, err := search.Discover(l, search.SpaceOf(l))
			if err != nil {
				t.Fatal(err)
			}
			missed := 0
			firsts := []uint64{1, 1001, 2001}
			if os.Getenv("LOCKSIM_SOAK") == "" {
				if s.Resends {
					t.Skip("a copy that comes late is rare: make soak looks for one")
				}
				firsts = firsts[:1]
			}
			for _, first := range firsts {
				n, found := 0, ""
				for trial := range search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: first, Last: first + 299})) {
					n++
					if trial.Err != nil {
						t.Fatal(trial.Err)
					}
					if len(trial.Violations) > 0 {
						found = fmt.Sprint(trial.Violations, trial.Outcome.Modes[0].Verdict.Reasons[0].Text)
						break
					}
				}
				t.Logf("from seed %d: run %d: %s", first, n, found)
				if found == "" {
					missed++
				}
			}
			if missed > 0 && !s.Resends || missed == len(firsts) { // a copy that comes late is rare
				t.Errorf("not found from %d of three first seeds", missed)
			}
		})
	}
}

// A run with a store under test is the same when it is made again, with the ledger and with another lock.
func TestTrialsAreDeterministic(t *testing.T) {
	for _, f := range fences.Own() {
		for _, kind := range []string{subject.Ledger, "fenced"} {
			l, err := redislocks.FindSubject(kind, f.Fence(), fences.Own())
			if kind != subject.Ledger && f.Promises(nil) && err != nil &&
				strings.Contains(err.Error(), "no fault under which both") {
				continue // of those of the one, the other promises none
			}
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for c := range search.Drawn(l, search.SpaceOf(l), outcome.Seeds{First: 11, Last: 11}) {
				n++
				_, err := play.Run(c.Scenario, l, play.RunOptions{Seed: c.Seed, Repeat: outcome.Twice})
				if err != nil {
					t.Errorf("%s, seed %d: %v", l.Name, c.Seed, err)
				}
			}
			if n != 1 {
				t.Errorf("%s: %d runs, want 1", l.Name, n)
			}
		}
	}
}
