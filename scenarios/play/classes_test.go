package play_test

import (
	"testing"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/play"
)

// Promises call every action by a class; whom it strikes and how hard tells
// which. Every action has one, and every class has an action.
func TestClasses(t *testing.T) {
	between := []string{"c0"}
	called := map[string]bool{}
	classes := map[lock.Fault]bool{"": true}
	for _, tt := range []struct {
		action faults.Action
		want   lock.Fault
	}{
		{faults.Pause{Process: "c0"}, lock.FaultPause},
		{faults.Crash{Process: "c0"}, lock.FaultCrash},
		{faults.Crash{Process: "r0"}, lock.FaultNodeCrash},
		{faults.Restart{Process: "c0"}, lock.FaultRestart},
		{faults.Restart{Process: "r0a"}, lock.FaultNodeCrash},
		{faults.Slow{Process: "c0"}, lock.FaultSlow},
		{faults.KillWorker{Process: "c0"}, lock.FaultWorker},
		{faults.ExhaustPool{Process: "c0"}, lock.FaultPool},
		{faults.ClockJump{Clock: "c0"}, lock.FaultWallClock},
		{faults.ClockJump{Clock: "r0"}, lock.FaultNodeClock},
		{faults.ClockDrift{Clock: "r0", PPM: 5_000}, lock.FaultClockDrift},
		{faults.ClockDrift{Clock: "c0", PPM: -5_000}, lock.FaultClockDrift},
		{faults.ClockDrift{Clock: "c0", PPM: 5_001}, lock.FaultClockRate},
		{faults.ClockDrift{Clock: "c0", PPM: -5_001}, lock.FaultClockRate},
		{faults.ClockFreeze{Clock: "c0"}, lock.FaultClockRate},
		{faults.Latency{Between: between}, lock.FaultLatency},
		{faults.Bandwidth{Between: between}, lock.FaultLatency},
		{faults.Slice{Between: between}, lock.FaultLatency},
		{faults.SlowClose{Between: between}, lock.FaultLatency},
		{faults.LoseReply{Between: between}, lock.FaultReset},
		{faults.DelayMessage{Between: between}, lock.FaultLatency},
		{faults.Partition{Between: between}, lock.FaultPartition},
		{faults.Reset{Between: between}, lock.FaultReset},
		{faults.Refuse{Node: "s0"}, lock.FaultReset},
		{faults.Stall{Node: "r0"}, lock.FaultStall},
		{faults.Failover{}, lock.FaultFailover},
		{faults.Evict{Node: "r0"}, lock.FaultEviction},
		{faults.Flush{Node: "r0"}, lock.FaultFlush},
		{faults.Flush{Node: "r0", What: faults.FlushScripts}, lock.FaultScripts},
		{faults.ReadOnly{Node: "r0"}, lock.FaultReadOnly},
		{unknownAction{}, ""},
	} {
		if got := play.ClassOf(tt.action); got != tt.want {
			t.Errorf("%v: class %q, want %q", tt.action, got, tt.want)
		}
		called[tt.action.Kind()], classes[tt.want] = true, true
	}
	for _, k := range faults.Kinds() {
		if !called[k.Name] {
			t.Errorf("%s is not tested", k.Name)
		}
	}
	for _, f := range lock.Faults() {
		if !classes[f] {
			t.Errorf("no action is called %s", f)
		}
	}
}

// One fault outside the promise and it says nothing about the schedule.
func TestPromises(t *testing.T) {
	single, err := play.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	schedule := func(actions ...faults.Action) (all []faults.Fault) {
		for _, a := range actions {
			all = append(all, faults.Fault{Action: a})
		}
		return all
	}
	redlock, err := play.Kind("redlock")
	if err != nil {
		t.Fatal(err)
	}
	drift := func(clock string, ppm int64) faults.Action { return faults.ClockDrift{Clock: clock, PPM: ppm} }
	in, out := faults.Stall{Node: "r0"}, faults.Evict{Node: "r0"}
	for _, tt := range []struct {
		lock     play.Lock
		schedule []faults.Fault
		want     bool
	}{
		{single, nil, true},
		{single, schedule(in, in), true},
		{single, schedule(in, out), false},
		{single, schedule(unknownAction{}), false},
		{play.Lock{Name: "theirs"}, nil, false},
		{single, schedule(drift("c0", 1)), false},
		{redlock, schedule(drift("r0", 10_000), drift("r1", 10_000)), true},
		{redlock, schedule(drift("c0", -4_000), drift("r1", 6_000)), true},
		{redlock, schedule(drift("c0", -4_001), drift("r1", 6_000)), false},
		{redlock, schedule(faults.ClockFreeze{Clock: "c0"}), false},
	} {
		if got := tt.lock.Promises(tt.schedule); got != tt.want {
			t.Errorf("%s promises %v: %v, want %v", tt.lock.Name, tt.schedule, got, tt.want)
		}
	}
}

// unknownAction is an action that no promise speaks of.
type unknownAction struct{ faults.Pause }
