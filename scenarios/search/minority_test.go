package search_test

import (
	"slices"
	"testing"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// A dead node is drawn for a lock on three nodes or more, once in a schedule, for
// the whole workload and all clients, if partitions are allowed.
func TestDrawnDeadNodes(t *testing.T) {
	for _, c := range []struct {
		redis  int
		faults []lock.Fault
		want   bool
	}{{5, nil, true}, {3, []lock.Fault{lock.FaultPartition}, true}, {5, []lock.Fault{lock.FaultPause}, false},
		{1, nil, false}} {
		dead := 0
		for seed := range uint64(300) {
			sc := search.Draw(spaces.Seeded(seed), spaces.Space{Redis: c.redis, Faults: c.faults})
			here := 0
			for _, f := range sc.Faults {
				p, ok := f.Action.(faults.Partition)
				if !ok || p.For > 0 {
					continue
				}
				here++
				if f.When != nil || f.At != 0 || len(p.And) != 1 || !slices.Equal(p.Between, file.Numbered("c", sc.World.Clients)) {
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

// Half of the events at which faults strike are named points, and faults at named
// points strike without a delay.
func TestDrawnFaultsStrikeAtPoints(t *testing.T) {
	points, events := 0, 0
	for seed := range uint64(300) {
		for _, f := range search.Draw(spaces.Seeded(seed), spaces.Space{Points: []string{"compared"},
			Faults: []lock.Fault{lock.FaultPause}}).Faults {
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
