package redis_test

import (
	"strings"
	"testing"
	"time"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/store"
)

func TestInvalidConfig(t *testing.T) {
	for want, servers := range map[string]simredis.Servers{
		"-1 Redis servers: give 1 to 64": {Nodes: -1},
		"65 Redis servers: give 1 to 64": {Nodes: 65},
		"4 replicas: give 0 to 3":        {Replicas: 4},
		"-1 replicas":                    {Replicas: -1},
		"replication lag 2s..1s":         {Lag: sim.Latency{Min: 2 * time.Second, Max: time.Second}},
		`persistence "aof": give one of`: {Persistence: "aof"},
		"a snapshot every -1s":           {Snapshot: -time.Second},
	} {
		_, err := sim.Run(with(servers), func(*sim.World) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", servers, err, want)
		}
	}
}

// TestServersTwice shows that a second Servers, whose names are taken, is an
// error.
func TestServersTwice(t *testing.T) {
	for _, second := range []simredis.Servers{{}, {Nodes: 2, Replicas: 1}} {
		_, err := sim.Run(sim.Config{Servers: []sim.Kind{simredis.Servers{}, second}}, func(*sim.World) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `redis.Servers: the name "r0" is empty, or taken`) {
			t.Errorf("%+v: %v", second, err)
		}
	}
}

// TestNames shows the names of the servers, each with its own address.
func TestNames(t *testing.T) {
	cfg := sim.Config{Servers: []sim.Kind{simredis.Servers{Nodes: 2, Replicas: 3}, store.Server{}}}
	run(t, cfg, func(w *sim.World) error {
		taken := map[string]string{}
		for _, name := range []string{"r0", "r0a", "r0b", "r0c", "r1", "s0", simredis.Primary} {
			addr, err := w.Address(name)
			if err != nil || addr != w.Client(0).Address(name) || taken[addr] != "" {
				t.Errorf("%s: address %q (%v), which is that of %q too", name, addr, err, taken[addr])
			}
			taken[addr] = name
		}
		n, err := simredis.On(w, "r0c")
		if err != nil || n.Name() != "r0c" {
			t.Errorf("r0c: %v", err)
		}
		if role, _ := n.Role(); role != "replica of r0" {
			t.Errorf("r0c is %s", role)
		}
		if n, err := simredis.On(w, simredis.Primary); err != nil || n.Name() != "r0" {
			t.Errorf("the primary: %v", err)
		}
		if _, err := simredis.On(w, "s0"); err == nil || !strings.Contains(err.Error(), "s0 is no Redis server") {
			t.Errorf("s0: %v", err)
		}
		return nil
	})
}
