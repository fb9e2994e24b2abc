package sim_test

import (
	"testing"

	"locksim/sim"
)

// The source of a process in another world has the numbers of the one in the world of that seed, also after a restart.
func TestSourceOf(t *testing.T) {
	_, err := sim.Run(sim.Config{Seed: 7, Clients: 1}, func(w *sim.World) error {
		p := w.Client(0)
		if p.Source("dice").Uint64() != sim.SourceOf(7, "c0", 1, "dice").Uint64() {
			t.Error("another number")
		}
		if p.Source("dice").Uint64() == sim.SourceOf(7, "c0", 2, "dice").Uint64() {
			t.Error("a restarted process has the numbers of the one before")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
