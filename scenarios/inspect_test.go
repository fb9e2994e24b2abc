package scenarios_test

import (
	"slices"
	"testing"

	"locksim/scenarios"
	"locksim/sim"
)

// Inspecting shows replicas too: before the failover the primary has the lock,
// of which its replica has not heard; after the next grant the replica is
// primary and has it.
func TestInspectReplicas(t *testing.T) {
	sc, l := load(t, "failover-before-replication")
	var grants []int
	for _, e := range play(t, sc, l, scenarios.RunOptions{Seed: 1}).Modes[0].Trace.Events {
		if e.Kind == "granted" {
			grants = append(grants, e.N)
		}
	}
	for i, want := range []struct{ withLock, role string }{{"r0", "primary"}, {"r0a", "primary"}} {
		s, err := scenarios.Inspect(sc, l, 1, "none", grants[i])
		if err != nil {
			t.Fatal(err)
		}
		var holding []string
		for _, n := range s.Nodes {
			if slices.ContainsFunc(n.Keys, func(k sim.Key) bool { return k.Name == "lock:{order}" }) && n.Role == want.role {
				holding = append(holding, n.Name)
			}
		}
		if len(s.Nodes) != 2 || !slices.Equal(holding, []string{want.withLock}) {
			t.Errorf("after grant %d: nodes %+v, want the lock on %s, the %s", i+1, s.Nodes, want.withLock, want.role)
		}
	}
}
