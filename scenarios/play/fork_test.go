package play_test

import (
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/sim/trace"
)

// A fork has the events of its run up to its step, and others later; equal seeds fork equally.
func TestFork(t *testing.T) {
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find("fenced", nil)
	if err != nil {
		t.Fatal(err)
	}
	played := func(f *play.Fork) *trace.Trace {
		t.Helper()
		o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true, Bare: true, Fork: f})
		if err != nil {
			t.Fatal(err)
		}
		return o.Modes[0].Trace
	}
	whole := played(nil)
	for _, step := range []int{0, 15, 23, 200, 400} {
		fork := func(seed uint64) *trace.Trace {
			return played(&play.Fork{Step: step, Seed: seed, Until: whole.Events[whole.Len()-1].At, Struck: []bool{true}})
		}
		one, again, other := fork(7), fork(7), fork(8)
		if d := trace.Diff(one, again); d != nil {
			t.Errorf("step %d: the same seed forks differently:\n%v", step, d)
		}
		if trace.Diff(one, other) == nil {
			t.Errorf("step %d: two seeds fork equally", step)
		}
		for _, f := range []*trace.Trace{one, other} {
			if d := trace.Diff(&trace.Trace{Events: whole.Events[:step]}, &trace.Trace{Events: f.Events[:step]}); d != nil {
				t.Errorf("step %d: the fork differs before it:\n%v", step, d)
			}
			if trace.Diff(whole, f) == nil {
				t.Errorf("step %d: the fork never differs", step)
			}
		}
	}
	if d := trace.Diff(whole, played(&play.Fork{Step: whole.Len() + 1, Seed: 7})); d != nil {
		t.Errorf("a fork that the run never reaches changes it:\n%v", d)
	}
}
