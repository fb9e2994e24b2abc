package search_test

import (
	"slices"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// tape takes choices from bytes, and the simplest when none are left.
type tape struct{ rest []byte }

func (t *tape) Below(n int) int {
	v := 0
	for room := n - 1; room > 0; room >>= 8 {
		v <<= 8
		if len(t.rest) > 0 {
			v |= int(t.rest[0])
			t.rest = t.rest[1:]
		}
	}
	return v % n
}

// FuzzSchedule applies any fault to any process, valid or not: restarts of running
// processes, failovers without replicas, faults on crashed or unknown processes,
// partitions that never heal. Each run ends with an outcome, the same one twice, or
// with an error about the scenario.
func FuzzSchedule(f *testing.F) {
	for seed := range byte(8) {
		f.Add(uint64(seed), []byte{seed, 0, 255 - seed, 17 * seed, 3, 200, 4, 5, 6, 7, 8, 90, 100, 2, 1})
	}
	for i := range byte(len(nonsense)) {
		f.Add(uint64(i), []byte{i % 11, 1, i}) // one invalid action at 0s
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		choices := &tape{data}
		sc := anything(choices)
		if sc.Validate() != nil {
			return
		}
		l, err := redislocks.Kind(sc.Lock.Kind)
		if err != nil {
			t.Fatal(err)
		}
		modes := fence.Modes()
		_, err = play.Run(sc, l, play.RunOptions{Seed: seed,
			Modes: []fence.Mode{modes[choices.Below(len(modes))]}, Repeat: outcome.Twice})
		testruns.RefusedOrPlayed(t, sc, err)
	})
}

// anything draws a scenario with every feature, and then makes its schedule
// invalid.
func anything(c spaces.Choices) *file.Scenario {
	kinds := append(kinds.Names(), kinds.Specimens()...)
	kind := kinds[c.Below(len(kinds))]
	var extra []faults.Action
	for range c.Below(4) {
		extra = append(extra, nonsense[c.Below(len(nonsense))])
	}
	sc := search.Draw(c, spaces.Space{
		Lock: kind, TTL: file.Range{Min: 5 * time.Second, Max: 10 * time.Second}, Redis: 1 + c.Below(5), Replicas: 2,
		Nested: 1, MaxFaults: 6,
		Clients: spaces.Span{Min: 1, Max: 3}, Rounds: spaces.Span{Min: 1, Max: 3},
		Waits:     []file.WaitMode{file.WaitPoll, file.WaitNotify},
		Profiles:  []file.ClientProfile{file.ClientQuiet, file.ClientStock},
		Workloads: []file.WorkloadKind{file.WorkloadRegister, file.WorkloadTransfer, file.WorkloadFill},
	})
	for i := 0; i < len(sc.Faults); i++ {
		switch c.Below(6) {
		case 1:
			sc.Faults = slices.Delete(sc.Faults, i, i+1)
			i--
		case 2:
			sc.Faults[i] = trigger(c, sc, sc.Faults[i].Action)
		case 3:
			sc.Faults[i].Action = nonsense[c.Below(len(nonsense))]
		}
	}
	for _, a := range extra {
		sc.Faults = append(sc.Faults, trigger(c, sc, a))
	}
	return sc
}

// trigger draws any trigger for an action.
func trigger(c spaces.Choices, sc *file.Scenario, a faults.Action) faults.Fault {
	if c.Below(2) == 0 {
		return faults.Fault{At: time.Duration(c.Below(200)) * 100 * time.Millisecond, Action: a}
	}
	events := append(faults.Events(), "reading", "not-granted", "reentered")
	return faults.Fault{Action: a, After: time.Duration(c.Below(3)) * time.Second, When: &faults.Event{
		Client: []string{"c0", "c1"}[c.Below(2)], Name: events[c.Below(len(events))], Nth: 1 + c.Below(sc.Workload.Rounds),
	}}
}

// nonsense are actions that no generator would draw: without an end, on the wrong
// sort of process or an unknown one, or without the action that has to precede
// them. Times are short enough for a client to poll throughout.
var nonsense = []faults.Action{
	faults.Restart{Process: "c0"}, faults.Restart{Process: "r0"}, faults.Restart{Process: "s0"},
	faults.Restart{Process: "r0a"},
	faults.Crash{Process: "r0"}, faults.Crash{Process: "r0", Mode: faults.CrashPower}, faults.Crash{Process: "r0a"},
	faults.Crash{Process: "s0"},
	faults.Crash{Process: "c0", Mode: faults.CrashPower}, faults.Crash{Process: "c9"},
	faults.Pause{Process: "c0", For: time.Minute}, faults.Pause{Process: "r0", For: time.Second},
	faults.Slow{Process: "c0", By: 10 * time.Second}, faults.Slow{Process: "c1", By: time.Nanosecond},
	faults.KillWorker{Process: "c0"}, faults.KillWorker{Process: "r0"},
	faults.ExhaustPool{Process: "c0"}, faults.ExhaustPool{Process: "c1", For: time.Nanosecond},
	faults.ClockJump{Clock: "r0", By: -time.Minute}, faults.ClockJump{Clock: "r0", By: time.Minute},
	faults.ClockJump{Clock: "s0", By: time.Second},
	faults.ClockDrift{Clock: "c0", PPM: faults.MaxPPM}, faults.ClockDrift{Clock: "r0", PPM: -999_999},
	faults.ClockDrift{Clock: "c0", PPM: faults.MinPPM},
	faults.ClockFreeze{Clock: "c0"}, faults.ClockFreeze{Clock: "r0"},
	faults.Latency{Between: []string{"c0"}, Add: 10 * time.Second}, faults.Bandwidth{Between: []string{"c0"}, Rate: 1},
	faults.Slice{Between: []string{"c0"}, Size: 1, Delay: 5 * time.Millisecond}, faults.SlowClose{Between: []string{"c0"},
		Delay: time.Second},
	faults.LoseReply{Between: []string{"c0"}, Count: faults.MaxReplies}, faults.DelayMessage{Between: []string{"c0"},
		By: time.Minute},
	faults.DelayMessage{Between: []string{"r0"}, And: []string{"r0a"}, By: time.Minute},
	faults.Partition{Between: []string{"c0"}}, faults.Partition{Between: []string{"s0"}, Bytes: faults.BytesDrop},
	faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}}, faults.Partition{Between: []string{"c0"},
		And: []string{"c1"}},
	faults.Partition{Between: []string{"r0"}, Direction: faults.DirectionBackward, Bytes: faults.BytesDrop},
	faults.Reset{Between: []string{"c0"}, And: []string{"r0", "s0"}},
	faults.Reset{Between: []string{"r0"}, And: []string{"c0"}},
	faults.Refuse{Node: "r0"}, faults.Refuse{Node: "s0"}, faults.Refuse{Node: "c0"},
	faults.Stall{Node: "r0"}, faults.Stall{Node: "s0"}, faults.Stall{Node: "r0a", For: time.Minute},
	faults.Failover{}, faults.Failover{To: "r0b", Old: faults.OldServing, Clients: []string{"c1"}},
	faults.Failover{To: "r0", Old: faults.OldDemoted},
	faults.Failover{To: "r9"},
	faults.Evict{Node: "r0", Keys: faults.MaxEvicted}, faults.Evict{Node: "s0"},
	faults.Evict{Node: "r0a", Policy: faults.EvictVolatileTTL},
	faults.Flush{Node: "r0"}, faults.Flush{Node: "r0a", What: faults.FlushScripts}, faults.Flush{Node: "c0"},
	faults.ReadOnly{Node: "r0"}, faults.ReadOnly{Node: "r0a"}, faults.ReadOnly{Node: "s0"},
}
