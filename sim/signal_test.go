package sim_test

import (
	"os"
	"os/signal"
	"testing"
	"time"

	"locksim/sim"
)

// Code of a world may ask for signals, also if it is the first of the program to do so.
func TestSignalsInAWorld(t *testing.T) {
	_, err := sim.Run(sim.Config{Limits: sim.Limits{Frozen: time.Second}}, func(w *sim.World) error {
		w.Client(0).Go(func() {
			c := make(chan os.Signal, 1)
			signal.Notify(c, os.Interrupt)
			defer signal.Stop(c)
			_ = w.Client(0).Clock().Sleep(w.Client(0).Context(), time.Second)
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Error(err)
	}
}
