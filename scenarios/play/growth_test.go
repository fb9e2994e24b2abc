package play_test

import (
	"runtime"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// footprint is what a process retains after a garbage collection.
type footprint struct {
	goroutines int
	heap       uint64
}

func measure() footprint {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), m.HeapAlloc}
}

// Thousands of runs in one process, 10,000 at full size, leave nothing behind:
// neither goroutines nor memory grow after the first tenth.
func TestRunsDoNotAddUp(t *testing.T) {
	names := []string{"gc-pause", "partition-holder", "holder-crash", "late-packet"}
	runs := testruns.Soak(t, 10_000, 0.02)
	var early footprint
	for i := range runs {
		sc, l := testruns.Load(t, names[i%len(names)])
		testruns.Play(t, sc, l, play.RunOptions{Seed: uint64(i), Modes: []fence.Mode{fence.None}})
		if i == runs/10 {
			early = measure()
		}
	}
	late := measure()
	t.Logf("after %d runs %+v, after %d runs %+v", runs/10+1, early, runs, late)
	if late.goroutines > early.goroutines {
		t.Errorf("goroutines grew from %d to %d", early.goroutines, late.goroutines)
	}
	if late.heap > early.heap+early.heap/4+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early.heap, late.heap)
	}
}
