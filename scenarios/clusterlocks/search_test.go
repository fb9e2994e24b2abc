package clusterlocks_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/search"
	"locksim/sim/trace"
)

// After the crash of a node, and when it has come back, the lock can be had again: the others tell each other that it
// has failed, elect its replica in an epoch of its own, and follow that one. An exploration finds no run in which the
// lock stays out of reach, unless more than one node has crashed.
func TestExploreCrashes(t *testing.T) {
	const kind = "fenced"
	runs := testruns.Soak(t, 600, 0.1)
	l := clusterlocks.Lock(kind)
	plan, err := explore.NewPlan(l, explore.Options{Runs: runs, FirstSeed: 1, Faults: []lock.Fault{lock.FaultNodeCrash},
		Judge: explorations.JudgeEverything, Collect: explorations.CollectAll})
	if err != nil {
		t.Fatal(err)
	}
	l = explore.Judged(l, explorations.JudgeEverything)
	played, promoted := 0, 0
	for c := range search.Drawn(l, plan.Space, outcome.Seeds{First: 1, Last: uint64(runs)}) {
		crashes := 0
		for _, f := range c.Scenario.Faults {
			if f.Action.Kind() == "crash" {
				crashes++
			}
		}
		if crashes > 1 {
			continue
		}
		trial := search.Play(l, c)
		if trial.Err != nil {
			t.Fatalf("%s: %v", c, trial.Err)
		}
		played++
		if slices.ContainsFunc(trial.Outcome.Modes[0].Trace.Events, isPromotion) {
			promoted++
		}
		for _, v := range trial.Violations {
			if v.Label == checker.Stuck {
				t.Errorf("%s: %s", c, v.Label)
			}
		}
	}
	t.Logf("in %d of %d runs a replica is promoted", promoted, played)
	if promoted < played/20 {
		t.Error("that is too seldom")
	}
}

func isPromotion(e trace.Event) bool {
	x, ok := e.What.(trace.ReplicaOf)
	return ok && x.Primary == ""
}
