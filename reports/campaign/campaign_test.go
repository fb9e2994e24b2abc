package campaign_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testreports"
	"locksim/reports/campaign"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
)

// Counts are in the order of their names. Without counts the text is empty.
func TestTallies(t *testing.T) {
	if got := campaign.Tallies(map[string]int{"b": 12345, "a": 1}); got != "a 1, b 12,345" {
		t.Errorf("got %q", got)
	}
	if got := campaign.Tallies(map[string]int(nil)); got != "" {
		t.Errorf("got %q", got)
	}
	if got := campaign.Coverage(testreports.Exploration()); got != "1 of 2; never: crash" {
		t.Errorf("got %q", got)
	}
}

// Every problem of a result is listed, and nothing for a result without problems.
func TestDoubts(t *testing.T) {
	e := testreports.Exploration()
	if got := campaign.ExplorationDoubts(e); got != nil {
		t.Errorf("of an exploration without doubts: %q", got)
	}
	e.Summary.Calls.NotHeld, e.Summary.Violating = 56, 0
	want := []string{"THE LOCK WAS NOT TESTED: no Release succeeded, of 56."}
	if diff := cmp.Diff(want, campaign.ExplorationDoubts(e)); diff != "" {
		t.Errorf("of an exploration in which no release succeeded (-want +got):\n%s", diff)
	}
	if got := campaign.ExplorationVerdict(e); got != "No violation, but these runs do not test the lock." {
		t.Errorf("its verdict: %s", got)
	}
	e.Summary.Violating = 1
	if got := campaign.ExplorationDoubts(e); got != nil {
		t.Errorf("of an exploration with a violation: %q", got)
	}
	e.Summary.Calls.NotHeld = 0
	e.Complete, e.Missing = false, 3
	e.Summary.Unsteady, e.Summary.Nondeterministic = &tally.BadRun{Seed: 7, Why: "first divergent event:\na   b"}, 2
	want = []string{"INCOMPLETE: 3 jobs of 10 runs have no result.", "seed 7: NOT DETERMINISTIC, as were 2 runs in all: " +
		"first divergent event:", "  a b"}
	if diff := cmp.Diff(want, campaign.ExplorationDoubts(e)); diff != "" {
		t.Errorf("of an exploration (-want +got):\n%s", diff)
	}
	s := &sweeps.Sweep{Plan: sweeps.Plan{Block: 100}, Missing: 1}
	s.Timing.Shard = "1/4"
	s.Summary.Calls.FailedReleases = 7
	want = []string{"This is shard 1/4: 1 job of 100 runs are missing. Merge puts the shards " +
		"together.", "THE LOCK WAS NOT TESTED: no Release succeeded, of 7."}
	if diff := cmp.Diff(want, campaign.SweepDoubts(s)); diff != "" {
		t.Errorf("of a sweep (-want +got):\n%s", diff)
	}
}
