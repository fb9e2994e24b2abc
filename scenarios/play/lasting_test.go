package play

import (
	"testing"

	"locksim/faults"
)

// A length of 0 means until the world is healed, for every kind of action that
// has one; pauses always end.
func TestUntilHealed(t *testing.T) {
	long := []faults.Action{
		faults.Partition{}, faults.Slow{}, faults.ExhaustPool{}, faults.ClockDrift{}, faults.ClockFreeze{}, faults.Refuse{},
		faults.Stall{}, faults.ReadOnly{}, faults.Latency{}, faults.Bandwidth{}, faults.Slice{}, faults.SlowClose{},
	}
	short := []faults.Action{
		faults.Partition{For: 1}, faults.Slow{For: 1}, faults.ExhaustPool{For: 1}, faults.ClockDrift{For: 1}, faults.ClockFreeze{For: 1},
		faults.Refuse{For: 1}, faults.Stall{For: 1}, faults.ReadOnly{For: 1}, faults.Latency{For: 1}, faults.Bandwidth{For: 1},
		faults.Slice{For: 1}, faults.SlowClose{For: 1},
		faults.Pause{}, faults.Crash{}, faults.Restart{}, faults.KillWorker{}, faults.ClockJump{}, faults.LoseReply{},
		faults.DelayMessage{}, faults.Reset{}, faults.Failover{}, faults.Evict{}, faults.Flush{},
	}
	seen := map[string]bool{}
	for _, a := range append(long, short...) {
		seen[a.Kind()] = true
	}
	for _, k := range faults.Kinds() {
		if !seen[k.Name] {
			t.Errorf("nothing is known of %s", k.Name)
		}
	}
	for _, a := range long {
		if !untilHealed(a) {
			t.Errorf("%v ends by itself", a)
		}
	}
	for _, a := range short {
		if untilHealed(a) {
			t.Errorf("%v lasts until the world is healed", a)
		}
	}
}
