package sim_test

import (
	"strings"
	"testing"
	"time"

	"locksim/sim"
)

func TestConfigThatCannotBe(t *testing.T) {
	for want, cfg := range map[string]sim.Config{
		"4 replicas: give 0 to 3":        {Replicas: 4},
		"-1 replicas":                    {Replicas: -1},
		"replication lag 2s..1s":         {Lag: sim.Latency{Min: 2 * time.Second, Max: time.Second}},
		`persistence "aof": give one of`: {Persistence: "aof"},
		"a snapshot every -1s":           {Snapshot: -time.Second},
	} {
		_, err := sim.Run(cfg, func(*sim.World) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", cfg, err, want)
		}
	}
}

// TestNames are those of the family, each with an address of its own.
func TestNames(t *testing.T) {
	run(t, sim.Config{Redis: 2, Replicas: 3}, func(w *sim.World) error {
		taken := map[string]string{}
		for _, name := range []string{"r0", "r0a", "r0b", "r0c", "r1", "s0", simredis.Primary} {
			addr, err := w.Address(name)
			if err != nil || addr != w.Client(0).Address(name) || taken[addr] != "" {
				t.Errorf("%s: address %q (%v), which is that of %q too", name, addr, err, taken[addr])
			}
			taken[addr] = name
		}
		if n, err := w.Node("r0c"); err != nil || n.Name() != "r0c" || n.Role() != "replica of r0" {
			t.Errorf("r0c: %v", err)
		}
		if n, err := w.Node(simredis.Primary); err != nil || n.Name() != "r0" {
			t.Errorf("the primary: %v", err)
		}
		if _, err := w.Node("s0"); err == nil {
			t.Error("s0 is no Redis node")
		}
		return nil
	})
}
