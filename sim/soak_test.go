package sim_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
)

// eventful is a workload with every fault of the world.
func eventful(w *sim.World) error {
	if _, err := w.Faults().AddToxic("c0", "r0", sim.Up, &toxics.SlicerToxic{AverageSize: 20}); err != nil {
		return err
	}
	w.At(20*time.Millisecond,
		func() { _ = w.Faults().Cut(faults.Partition{Between: []string{"c1"}, For: 50 * time.Millisecond}) })
	w.At(30*time.Millisecond, func() { _ = w.Faults().Pause("c0", 200*time.Millisecond) })
	w.At(40*time.Millisecond, func() { _ = w.Faults().Crash("c2", faults.CrashPower) })
	w.At(50*time.Millisecond, func() { _ = w.Faults().Reset("c1", "s0") })
	for i := range w.Clients() {
		p := w.Client(i)
		p.Go(func() {
			r := redisclient.New(p, "r0")
			s := store.NewClient(p)
			op := store.Op{Resource: "a", Register: "b", ID: p.Name()}
			for range 5 {
				_ = r.Incr(p.Context(), "n").Err()
				_ = s.Write(p.Context(), op)
				_ = p.Clock().Sleep(p.Context(), 20*time.Millisecond)
			}
		})
	}
	return w.RunUntil(w.Idle)
}

// TestManyRuns shows that thousands of runs in one process leak neither
// goroutines nor memory. LOCKSIM_SOAK=1 makes it 10,000.
func TestManyRuns(t *testing.T) {
	runs := seeds(1000)
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		runs = 10_000
	}
	var goroutines int
	var heap uint64
	for seed := range uint64(runs) {
		run(t, sim.Config{Seed: seed, Clients: 3}, eventful)
		if seed == uint64(runs/10) {
			goroutines, heap = runtime.NumGoroutine(), heapNow()
		}
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines after %d runs, %d after a tenth of them", n, runs, goroutines)
	}
	if n := heapNow(); n > heap*3/2+4<<20 {
		t.Errorf("%d bytes of heap after %d runs, %d after a tenth of them", n, runs, heap)
	}
	t.Logf("%d runs: %d goroutines, %d KiB of heap (after a tenth: %d, %d KiB)",
		runs, runtime.NumGoroutine(), heapNow()>>10, goroutines, heap>>10)
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
