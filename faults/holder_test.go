package faults_test

import (
	"reflect"
	"testing"

	"locksim/faults"
	"locksim/lock/promise"
)

// The holder is a client, and a client takes its place.
func TestHolder(t *testing.T) {
	for _, c := range []struct{ action, want faults.Action }{
		{faults.Crash{Process: faults.Holder}, faults.Crash{Process: "c2"}},
		{faults.ClockJump{Clock: faults.Holder, By: 1}, faults.ClockJump{Clock: "c2", By: 1}},
		{faults.Partition{Between: []string{"c1", "holder"}, And: []string{"r0"}},
			faults.Partition{Between: []string{"c1", "c2"}, And: []string{"r0"}}},
		{faults.Partition{Between: []string{"c2", "c1", "holder"}}, faults.Partition{Between: []string{"c1", "c2"}}},
	} {
		if !faults.Aims(c.action) || faults.Aims(c.want) {
			t.Errorf("%v aims at the holder: %v, and %v: %v", c.action, faults.Aims(c.action), c.want, faults.Aims(c.want))
		}
		if got := faults.Aim(c.action, "c2"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v at c2 is %v, want %v", c.action, got, c.want)
		}
	}
	if class := faults.ClassOf(faults.Crash{Process: faults.Holder}); class != promise.Crash {
		t.Errorf("the crash of the holder has the class %s", class)
	}
}
