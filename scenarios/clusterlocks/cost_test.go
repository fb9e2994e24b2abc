package clusterlocks_test

import (
	"runtime"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/play"
)

// A run in a Redis Cluster takes no more than five times the memory of one on a single node. The six nodes send each
// other nothing while nothing can happen.
func TestMemoryBesideASingleNode(t *testing.T) {
	single, err := scenarios.Kind("fenced")
	if err != nil {
		t.Fatal(err)
	}
	plain, clustered := memory(t, single), memory(t, clusterlocks.Lock("fenced"))
	t.Logf("%.1f times as much", float64(clustered)/float64(plain))
	if clustered > 5*plain {
		t.Errorf("%d runs in a Redis Cluster allocate %d bytes, and on a single node %d: %.1f times as much", several,
			clustered, plain, float64(clustered)/float64(plain))
	}
}

const several = 5

// memory is what some runs of gc-pause allocate.
func memory(t *testing.T, l scenarios.Lock) uint64 {
	t.Helper()
	sc, err := scenarios.Load("gc-pause", l)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	for seed := range uint64(several + 1) {
		if seed == 1 { // the first run also makes what the others share
			runtime.ReadMemStats(&before)
		}
		o := play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true}
		if _, err := play.Run(sc, l, o); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
