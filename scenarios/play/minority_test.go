package play

import (
	"slices"
	"testing"

	"locksim/faults"
	"locksim/lock"
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

// A dead node is drawn for a lock on three nodes or more, once in a schedule, for
// the whole workload and all clients, and where partitions may be.
func TestDrawnDeadNodes(t *testing.T) {
	for _, c := range []struct {
		redis  int
		faults []lock.Fault
		want   bool
	}{{5, nil, true}, {3, []lock.Fault{lock.FaultPartition}, true}, {5, []lock.Fault{lock.FaultPause}, false}, {1, nil, false}} {
		dead := 0
		for seed := range uint64(300) {
			sc := Draw(Seeded(seed), Space{Redis: c.redis, Faults: c.faults})
			here := 0
			for _, f := range sc.Faults {
				p, ok := f.Action.(faults.Partition)
				if !ok || p.For > 0 {
					continue
				}
				here++
				if f.When != nil || f.At != 0 || len(p.And) != 1 || !slices.Equal(p.Between, Numbered("c", sc.World.Clients)) {
					t.Fatalf("seed %d: %v", seed, f)
				}
			}
			dead += here
			if here > 1 {
				t.Fatalf("seed %d: %d dead nodes", seed, here)
			}
		}
		if dead > 0 != c.want || dead > 200 {
			t.Errorf("%d nodes, faults %v: %d of 300 schedules have a dead node", c.redis, c.faults, dead)
		}
	}
}

// Named points are half of the events at which faults strike, and what strikes
// there strikes at once.
func TestDrawnFaultsStrikeAtPoints(t *testing.T) {
	points, events := 0, 0
	for seed := range uint64(300) {
		for _, f := range Draw(Seeded(seed), Space{Points: []string{"compared"}, Faults: []lock.Fault{lock.FaultPause}}).Faults {
			switch {
			case f.When == nil:
			case f.When.Name == "compared":
				if points++; f.After != 0 {
					t.Errorf("seed %d: %v after %v", seed, f, f.After)
				}
			default:
				events++
			}
		}
	}
	if points < events/2 || events < points/2 {
		t.Errorf("%d faults at named points, %d at other events", points, events)
	}
}
