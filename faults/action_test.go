package faults_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

// notebook is a world that can do everything and only writes it down.
type notebook struct {
	did  []string
	fail error
}

func (n *notebook) Pause(process string, d time.Duration) error {
	return n.note("pause %s %v", process, d)
}

func (n *notebook) Crash(process string, mode faults.CrashMode) error {
	return n.note("crash %s %s", process, mode)
}

func (n *notebook) Cut(p faults.Partition) error {
	return n.note("cut %v %v %v %s %s", p.Between, p.And, p.For, p.Bytes, p.Direction)
}

func (n *notebook) note(format string, args ...any) error {
	n.did = append(n.did, fmt.Sprintf(format, args...))
	return n.fail
}

func TestApplyUsesTheAbilityAndFillsDefaults(t *testing.T) {
	world := new(notebook)
	for _, a := range []faults.Action{
		pause, crash, faults.Crash{Process: "c0", Mode: faults.CrashPower}, cut,
		faults.Partition{Between: []string{"c0"}, Bytes: faults.BytesDrop, Direction: faults.DirectionForward},
	} {
		if err := a.Apply(world); err != nil {
			t.Errorf("%v: %v", a, err)
		}
	}
	want := []string{
		"pause c0 15s", "crash c1 process", "crash c0 power",
		"cut [c0] [r0 s0] 1s hold both", "cut [c0] [] 0s drop forward",
	}
	if diff := cmp.Diff(want, world.did); diff != "" {
		t.Errorf("the world did (-want +got):\n%s", diff)
	}
}

func TestApplyNamesTheActionInErrors(t *testing.T) {
	broken := &notebook{fail: errors.New("no process c0")}
	for _, tt := range []struct {
		action faults.Action
		world  any
		cause  error
		want   string
	}{
		{pause, struct{}{}, faults.ErrUnable, "pause c0 for 15s: the world is unable to do this: a struct {} cannot pause"},
		{crash, nil, faults.ErrUnable, "crash c1 (process): the world is unable to do this: a <nil> cannot crash"},
		{cut, 7, faults.ErrUnable, "cut c0 off from r0, s0 for 1s (hold, both): the world is unable to do this: a int cannot partition"},
		{pause, broken, broken.fail, "pause c0 for 15s: no process c0"},
	} {
		err := tt.action.Apply(tt.world)
		if !errors.Is(err, tt.cause) || err.Error() != tt.want {
			t.Errorf("%v on a %T: got %v, want %s", tt.action, tt.world, err, tt.want)
		}
	}
}

// A world offers the abilities that it has; a fault finds the one it needs.
func ExampleFault() {
	fault := faults.Fault{
		When:   &faults.Event{Client: "c0", Name: faults.EventRead, Nth: 1},
		Action: faults.Pause{Process: "c0", For: 15 * time.Second},
	}
	if err := fault.Validate(); err != nil {
		fmt.Println(err)
	}
	world := new(notebook)
	if err := fault.Action.Apply(world); err != nil {
		fmt.Println(err)
	}
	fmt.Println(fault)
	fmt.Println(world.did)
	// Output:
	// pause c0 for 15s, when c0 passes read
	// [pause c0 15s]
}
