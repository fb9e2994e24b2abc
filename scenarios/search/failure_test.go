package search_test

import (
	"bytes"
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

func TestShape(t *testing.T) {
	pause := faults.Pause{Process: "c0", For: time.Second}
	read := &faults.Event{Client: "c0", Name: faults.EventRead, Nth: 1}
	write := &faults.Event{Client: "c1", Name: faults.EventWrite, Nth: 2}
	corrupted := []outcome.Violation{{Mode: fence.None, Label: checker.Corrupted},
		{Mode: fence.None, Label: checker.Overlap}}
	for _, c := range []struct {
		want   string
		broken []outcome.Violation
		work   file.Workload
		faults []faults.Fault
	}{
		{"corrupted in mode none: pause", corrupted, file.Workload{}, []faults.Fault{{When: read, Action: pause}}},
		{"corrupted in mode none: pause", corrupted, file.Workload{Kind: file.WorkloadRegister},
			[]faults.Fault{{When: write, After: time.Second, Action: pause}}},
		{"overlap in mode none: pause", corrupted[1:], file.Workload{}, []faults.Fault{{When: read, Action: pause}}},
		{"stuck in mode seal: no faults", []outcome.Violation{{Mode: fence.Seal, Label: checker.Stuck}}, file.Workload{},
			nil},
		{"corrupted in mode none: crash, pause, restart", corrupted, file.Workload{},
			[]faults.Fault{{Action: faults.Restart{Process: "r0"}}, {Action: pause}, {Action: faults.Crash{Process: "r0"}}}},
		{"corrupted in mode none: pause, pause", corrupted, file.Workload{},
			[]faults.Fault{{Action: pause}, {At: time.Minute, Action: pause}}},
		{"corrupted in mode none: no faults (transfer)", corrupted, file.Workload{Kind: file.WorkloadTransfer}, nil},
		{"corrupted in mode none: no faults (nested)", corrupted, file.Workload{Nested: 2}, nil},
		{"corrupted in mode none: no faults (fill)", corrupted, file.Workload{Kind: file.WorkloadFill}, nil},
		{"no violation: no faults", nil, file.Workload{}, nil},
	} {
		if got := failure.Shape(&file.Scenario{Workload: c.work, Faults: c.faults}, c.broken); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A failure that is examined twice is stored in the same way.
func TestExamineIsDeterministic(t *testing.T) {
	l, err := redislocks.Kind("broken/del-without-owner")
	if err != nil {
		t.Fatal(err)
	}
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	f := firstFound(t, l, space, outcome.Seeds{First: 1, Last: 2000})
	if a, b := examined(t, f), examined(t, f); !bytes.Equal(a, b) {
		t.Errorf("one time:\n%s\nthe other:\n%s", a, b)
	}
}

// examined is the stored run and the text of a failure, without its timing.
func examined(t *testing.T, f search.Found) []byte {
	t.Helper()
	if err := f.Examine(nil); err != nil {
		t.Fatal(err)
	}
	if f.Same != failure.Replays || f.Again != failure.Replays || f.Replays != failure.Replays {
		t.Errorf("%d equal, %d broken, of %d", f.Same, f.Again, f.Replays)
	}
	f.Run.Timing = outcome.Timing{}
	text, err := f.Run.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return append(text, f.Text(play.Unseeded())...)
}

// Before a failure is examined its shape has its labels and the kinds of the faults
// that struck. A minimal failure explains others with more of them.
func TestFailureExplains(t *testing.T) {
	l, sc := failures[0].load(t)
	seed, _ := firstFailure(t, l, sc)
	drawn := search.NewFound(search.Play(l, search.Case{Scenario: sc, Seed: seed}))
	if want := "corrupted: clock_drift, latency, pause, slow"; drawn.Shape != want || drawn.Run != nil || drawn.Runs != 1 {
		t.Errorf("%+v, want the shape %q", drawn, want)
	}
	minimal := drawn
	if err := minimal.Examine(nil); err != nil {
		t.Fatal(err)
	}
	if minimal.Shape != failures[0].want || minimal.Drawn != 4 || minimal.Faults != 1 || minimal.Run == nil {
		t.Errorf("%+v, want the shape %q", minimal, failures[0].want)
	}
	if !minimal.Explains(&drawn.Failure) || drawn.Explains(&minimal.Failure) {
		t.Errorf("%s explains %s: %v, and the other way round: %v", minimal.Shape, drawn.Shape,
			minimal.Explains(&drawn.Failure), drawn.Explains(&minimal.Failure))
	}
	if v := minimal.Value(); v.Outcome != nil || v.Run != minimal.Run {
		t.Errorf("the value is %+v", v)
	}
}
