package faults_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

func read(nth int) *faults.Event {
	return &faults.Event{Client: "c0", Name: faults.EventRead, Nth: nth}
}

var (
	pause = faults.Pause{Process: "c0", For: 15 * time.Second}
	crash = faults.Crash{Process: "c1"}
	cut   = faults.Partition{Between: []string{"c0"}, And: []string{"r0", "s0"}, For: time.Second}
)

func TestValidFaults(t *testing.T) {
	for _, f := range []faults.Fault{
		{Action: pause},
		{At: 3 * time.Second, Action: pause},
		{When: read(1), Action: pause},
		{When: &faults.Event{Client: "c0", Name: "lease-checked", Nth: 7}, Action: crash},
		{Action: faults.Crash{Process: "c0", Mode: faults.CrashPower}},
		{Action: cut},
		{Action: faults.Partition{Between: []string{"c0", "r1"}, Bytes: faults.BytesDrop, Direction: faults.DirectionBackward}},
	} {
		if err := f.Validate(); err != nil {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestValidateNamesTheFieldAndWhatToDo(t *testing.T) {
	event := func(client, name string, nth int) faults.Fault {
		return faults.Fault{When: &faults.Event{Client: client, Name: name, Nth: nth}, Action: pause}
	}
	do := func(a faults.Action) faults.Fault { return faults.Fault{Action: a} }
	side := func(names ...string) []string { return names }
	for _, tt := range []struct {
		name  string
		fault faults.Fault
		want  string
	}{
		{"no action", faults.Fault{}, "action: the fault does nothing: give it a pause, a crash or a partition"},
		{"two triggers", faults.Fault{When: read(1), At: time.Second, Action: pause},
			"at: a fault has one trigger, and this one has an event as well: leave out at or when"},
		{"before the start", faults.Fault{At: -time.Second, Action: pause},
			"at: -1s is before the start of the run: give a time from 0s up"},
		{"nobody's event", event("", "read", 1), "when.client: no client is named: say whose event it is, such as c0"},
		{"no event", event("c0", "", 1), `when.event: "" cannot be an event: write a label of a-z, 0-9 and -, such as read`},
		{"not a label", event("c0", "Read!", 1), `when.event: "Read!" cannot be an event: write a label of a-z, 0-9 and -, such as read`},
		{"never", event("c0", "read", 0), "when.nth: 0 is not a count: 1 is the first time that c0 passes read"},
		{"pause of nobody", do(faults.Pause{For: 1}), "pause.process: no process is named: say which one stops, such as c0"},
		{"endless pause", do(faults.Pause{Process: "c0"}),
			"pause.for: 0s is not a length of time: a pause lasts more than 0s, such as 15s"},
		{"crash of nobody", do(faults.Crash{}), "crash.process: no process is named: say which one dies, such as c0"},
		{"unknown crash", do(faults.Crash{Process: "c0", Mode: "soft"}), `crash.mode: "soft" is not known: choose process or power`},
		{"no side", do(faults.Partition{}), "partition.between: nobody is cut off: name the processes of one side, such as [c0]"},
		{"nameless", do(faults.Partition{Between: side("c0"), And: side("r0", "")}),
			"partition.and[1]: the process has no name: write one such as c0, r0 or s0"},
		{"on both sides", do(faults.Partition{Between: side("c0", "c1"), And: side("c1")}),
			"partition.and[0]: c1 is named twice: a process stands on one side, once"},
		{"twice on one side", do(faults.Partition{Between: side("c0", "c0")}),
			"partition.between[1]: c0 is named twice: a process stands on one side, once"},
		{"negative cut", do(faults.Partition{Between: side("c0"), For: -1}),
			"partition.for: -1ns is negative: give the length of the cut, such as 15s"},
		{"unknown bytes", do(faults.Partition{Between: side("c0"), Bytes: "eat"}),
			`partition.bytes: "eat" is not known: choose hold or drop`},
		{"unknown direction", do(faults.Partition{Between: side("c0"), Direction: "up"}),
			`partition.direction: "up" is not known: choose both, forward or backward`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.fault.Validate()
			var field *faults.FieldError
			if !errors.As(err, &field) {
				t.Fatalf("Validate() = %v, want a *FieldError", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrings(t *testing.T) {
	for _, tt := range []struct {
		value fmt.Stringer
		want  string
	}{
		{faults.Fault{When: read(1), Action: pause}, "pause c0 for 15s, when c0 passes read"},
		{faults.Fault{At: 3 * time.Second, Action: crash}, "crash c1 (process), at 3s"},
		{cut, "cut c0 off from r0, s0 for 1s (hold, both)"},
		{faults.Partition{Between: []string{"c0", "c1"}, Bytes: faults.BytesDrop, Direction: faults.DirectionForward},
			"cut c0, c1 off from everything else until the end (drop, forward)"},
		{read(2), "when c0 passes read for the 2nd time"},
		{read(3), "when c0 passes read for the 3rd time"},
		{read(11), "when c0 passes read for the 11th time"},
		{read(121), "when c0 passes read for the 121st time"},
		{faults.Pos{File: "a.yaml", Line: 3, Column: 7}, "a.yaml:3:7"},
		{faults.Pos{Line: 3, Column: 7}, "3:7"},
		{faults.Pos{File: "a.yaml"}, "a.yaml"},
		{faults.Pos{}, ""},
	} {
		if got := tt.value.String(); got != tt.want {
			t.Errorf("%T: got %q, want %q", tt.value, got, tt.want)
		}
	}
}
