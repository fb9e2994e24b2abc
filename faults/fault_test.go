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
		{When: read(1), After: time.Second, Action: pause},
		{Action: faults.Bandwidth{Between: c0, Rate: faults.MaxRate}},
		{Action: faults.Slice{Between: c0, Size: faults.MaxSliceSize}},
		{Action: faults.LoseReply{Between: c0, Count: faults.MaxReplies}},
		{Action: faults.ClockDrift{Clock: "r0a", PPM: faults.MinPPM}},
		{Action: faults.ClockDrift{Clock: "r0a", PPM: faults.MaxPPM}},
		{Action: faults.Latency{Between: c0, Jitter: 1}},
		{Action: faults.Evict{Node: "r0", Keys: faults.MaxEvicted}},
		{Action: faults.Partition{Between: []string{"c0", "r1"}, Bytes: faults.BytesDrop,
			Direction: faults.DirectionBackward}},
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
		{"no action", faults.Fault{}, "action: the fault does nothing: give it an action, such as a pause"},
		{"two triggers", faults.Fault{When: read(1), At: time.Second, Action: pause},
			"at: a fault has one trigger, and this one has an event as well: leave out at or when"},
		{"before the start", faults.Fault{At: -time.Second, Action: pause},
			"at: -1s is before the start of the run: give a time from 0s up"},
		{"event without a client", event("", "read", 1), "when.client: no client is named: say whose event it is, " +
			"such as c0"},
		{"no event", event("c0", "", 1), `when.event: "" cannot be an event: write a label of a-z, 0-9 and -, such as read`},
		{"not a label", event("c0", "Read!", 1),
			`when.event: "Read!" cannot be an event: write a label of a-z, 0-9 and -, such as read`},
		{"never", event("c0", "read", 0), "when.nth: 0 is not a count: 1 is the first time that c0 passes read"},
		{"pause of nobody", do(faults.Pause{For: 1}), "pause.process: no process is named: say which one stops, such as c0"},
		{"endless pause", do(faults.Pause{Process: "c0"}),
			"pause.for: 0s is no length of time: give one such as 15s"},
		{"crash of nobody", do(faults.Crash{}), "crash.process: no process is named: say which one dies, such as c0"},
		{"unknown crash", do(faults.Crash{Process: "c0", Mode: "soft"}),
			`crash.mode: "soft" is not known: choose process or power`},
		{"no side", do(faults.Partition{}), "partition.between: no name is given: say who is on one side, such as [c0]"},
		{"nameless", do(faults.Partition{Between: side("c0"), And: side("r0", "")}),
			"partition.and[1]: there is no name: write one, such as c0"},
		{"on both sides", do(faults.Partition{Between: side("c0", "c1"), And: side("c1")}),
			"partition.and[0]: c1 stands on both sides: name it on one of them"},
		{"twice on one side", do(faults.Partition{Between: side("c0", "c0")}),
			"partition.between[1]: c0 is named twice: name each once"},
		{"negative cut", do(faults.Partition{Between: side("c0"), For: -1}),
			"partition.for: -1ns is no length of time: give one such as 15s"},
		{"unknown bytes", do(faults.Partition{Between: side("c0"), Bytes: "eat"}),
			`partition.bytes: "eat" is not known: choose hold or drop`},
		{"unknown direction", do(faults.Partition{Between: side("c0"), Direction: "up"}),
			`partition.direction: "up" is not known: choose both, forward or backward`},
		{"after nothing", faults.Fault{At: 1, After: 1, Action: pause},
			"after: there is no event that it could be after: add when, or put the time into at"},
		{"after what comes later", faults.Fault{When: read(1), After: -1, Action: pause},
			"after: -1ns is before the event: give a time from 0s up"},
		{"restart of nobody", do(faults.Restart{}), "restart.process: no process is named: say which one comes back, " +
			"such as c0"},
		{"nobody is slow", do(faults.Slow{By: 1}), "slow.process: no process is named: say whose timers are late, " +
			"such as c0"},
		{"slow by nothing", do(faults.Slow{Process: "c0"}),
			"slow.by: 0s is no length of time: give one such as 2s"},
		{"negative slowness", do(faults.Slow{Process: "c0", By: 1, For: -1}),
			"slow.for: -1ns is no length of time: give one such as 15s"},
		{"worker without a process", do(faults.KillWorker{}), "kill_worker.process: no process is named: say whose worker " +
			"dies, such as c0"},
		{"pools without a process", do(faults.ExhaustPool{}), "exhaust_pool.process: no process is named: say whose pools " +
			"are empty, such as c0"},
		{"negative shortage", do(faults.ExhaustPool{Process: "c0", For: -1}),
			"exhaust_pool.for: -1ns is no length of time: give one such as 15s"},
		{"jump without a clock", do(faults.ClockJump{}), "clock_jump.clock: no clock is named: say whose clock jumps, " +
			"such as c0"},
		{"a jump on the spot", do(faults.ClockJump{Clock: "c0"}), "clock_jump.by: 0s is nothing: give a time such as 5s " +
			"or -5s"},
		{"drift without a clock", do(faults.ClockDrift{PPM: 1}), "clock_drift.clock: no clock is named: say whose clock " +
			"drifts, such as c0"},
		{"no drift", do(faults.ClockDrift{Clock: "c0"}),
			"clock_drift.ppm: 0 is out of range: give -1000000 to 9000000 millionths of the true rate, but not 0"},
		{"a clock that runs backward", do(faults.ClockDrift{Clock: "c0", PPM: faults.MinPPM - 1}),
			"clock_drift.ppm: -1000001 is out of range: give -1000000 to 9000000 millionths of the true rate, but not 0"},
		{"a clock beyond all rates", do(faults.ClockDrift{Clock: "c0", PPM: faults.MaxPPM + 1}),
			"clock_drift.ppm: 9000001 is out of range: give -1000000 to 9000000 millionths of the true rate, but not 0"},
		{"negative drift", do(faults.ClockDrift{Clock: "c0", PPM: 1, For: -1}),
			"clock_drift.for: -1ns is no length of time: give one such as 15s"},
		{"freeze without a clock", do(faults.ClockFreeze{}), "clock_freeze.clock: no clock is named: say whose clock " +
			"stands still, such as c0"},
		{"negative frost", do(faults.ClockFreeze{Clock: "c0", For: -1}),
			"clock_freeze.for: -1ns is no length of time: give one such as 15s"},
		{"latency without a name", do(faults.Latency{Add: 1}), "latency.between: no name is given: say who is on one side, " +
			"such as [c0]"},
		{"early messages", do(faults.Latency{Between: c0, Add: -1}), "latency.add: -1ns is no length of time: give one " +
			"such as 50ms"},
		{"early at times", do(faults.Latency{Between: c0, Jitter: -1}),
			"latency.jitter: -1ns is no length of time: give one such as 20ms"},
		{"no latency", do(faults.Latency{Between: c0}), "latency.add: nothing is late: give add, jitter or both, such " +
			"as 50ms"},
		{"negative latency", do(faults.Latency{Between: c0, Add: 1, For: -1}),
			"latency.for: -1ns is no length of time: give one such as 15s"},
		{"no bandwidth", do(faults.Bandwidth{Between: c0}), "bandwidth.rate: 0 is out of range: give 1 to 1000000 KB/s"},
		{"slices of nothing", do(faults.Slice{Between: c0}), "slice.size: 0 is out of range: give 1 to 1048576 bytes"},
		{"a fine slice", do(faults.Slice{Between: c0, Size: 1, Delay: 1500}),
			"slice.delay: 1.5µs is not a whole number of microseconds: the toxic counts no finer"},
		{"a negative slice", do(faults.Slice{Between: c0, Size: 1, Delay: -1}),
			"slice.delay: -1ns is no length of time: give one such as 1ms"},
		{"a close on time", do(faults.SlowClose{Between: c0}),
			"slow_close.delay: 0s is no length of time: give one such as 5s"},
		{"a fine close", do(faults.SlowClose{Between: c0, Delay: 1}),
			"slow_close.delay: 1ns is not a whole number of milliseconds: the toxic counts no finer"},
		{"no replies", do(faults.LoseReply{Between: c0, Count: -1}), "lose_reply.count: -1 is out of range: give 1 to 1000 " +
			"replies"},
		{"lost replies without a name", do(faults.LoseReply{}), "lose_reply.between: no name is given: say who is on one " +
			"side, such as [c0]"},
		{"a message on time", do(faults.DelayMessage{Between: c0}),
			"delay_message.by: 0s is no length of time: give one such as 15s"},
		{"a message nowhere", do(faults.DelayMessage{Between: c0, By: 1, Direction: "up"}),
			`delay_message.direction: "up" is not known: choose forward, both or backward`},
		{"half a reset", do(faults.Reset{Between: c0}), "reset.and: no name is given: say which nodes are on the other " +
			"side, such as [r0]"},
		{"a reset of itself", do(faults.Reset{Between: c0, And: c0}), "reset.and[0]: c0 stands on both sides: name it on " +
			"one of them"},
		{"nobody refuses", do(faults.Refuse{}), "refuse.node: no node is named: say which one refuses connections, " +
			"such as r0"},
		{"nobody is blocked", do(faults.Stall{}), "stall.node: no node is named: say which one is blocked, such as r0"},
		{"unknown fate", do(faults.Failover{Old: "retired"}),
			`failover.old: "retired" is not known: choose fenced, serving or demoted`},
		{"told twice", do(faults.Failover{Clients: side("c0", "c0")}), "failover.clients[1]: c0 is named twice: name " +
			"each once"},
		{"failover with an empty name", do(faults.Failover{Clients: side("")}), "failover.clients[0]: there is no name: " +
			"write one, such as c0"},
		{"eviction without a node", do(faults.Evict{}), "evict.node: no node is named: say which one has no memory left, " +
			"such as r0"},
		{"unknown policy", do(faults.Evict{Node: "r0", Policy: "noeviction"}),
			`evict.policy: "noeviction" is not known: choose allkeys-lru, allkeys-random, volatile-lru, volatile-random or volatile-ttl`},
		{"no keys", do(faults.Evict{Node: "r0", Keys: -1}), "evict.keys: -1 is out of range: give 1 to 1000000 keys"},
		{"nobody forgets", do(faults.Flush{}), "flush.node: no node is named: say which one forgets, such as r0"},
		{"unknown loss", do(faults.Flush{Node: "r0", What: "all"}), `flush.what: "all" is not known: choose keys or scripts`},
		{"nobody is read-only", do(faults.ReadOnly{}), "read_only.node: no node is named: say which one takes no writes, " +
			"such as r0"},
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
		{faults.Fault{When: read(2), After: time.Second, Action: crash}, "crash c1 (process), 1s after c0 passes read for " +
			"the 2nd time"},
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
