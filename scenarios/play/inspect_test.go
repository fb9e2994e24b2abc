package play_test

import (
	"slices"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// Inspect shows replicas too: before the failover the primary has the lock, which
// its replica has not received; after the next grant the replica is primary and has
// it.
func TestInspectReplicas(t *testing.T) {
	sc, l := testruns.Load(t, "failover-before-replication")
	var grants []int
	for _, e := range testruns.Play(t, sc, l, play.RunOptions{Seed: 1}).Modes[0].Trace.Events {
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.Granted {
			grants = append(grants, e.N)
		}
	}
	for i, want := range []struct{ withLock, role string }{{"r0", "primary"}, {"r0a", "primary"}} {
		s, err := play.Inspect(sc, l, 1, "none", grants[i])
		if err != nil {
			t.Fatal(err)
		}
		var holding []string
		for _, n := range s.Nodes {
			if slices.ContainsFunc(n.Keys, func(k trace.Key) bool { return k.Name == "lock:{order}" }) && n.Role == want.role {
				holding = append(holding, n.Name)
			}
		}
		if len(s.Nodes) != 2 || !slices.Equal(holding, []string{want.withLock}) {
			t.Errorf("after grant %d: nodes %+v, want the lock on %s, the %s", i+1, s.Nodes, want.withLock, want.role)
		}
	}
}

// A run can be stopped at any step: before a fault, which must not strike while the
// world is closed, during it, and after it. Each stride reaches other steps.
func TestInspectStopsAnywhere(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		mode     fence.Mode
		stride   int
	}{
		{"gc-pause", fence.Check, 7},
		{"partition-holder", fence.None, 37},
		{"redlock-clock-jump", fence.None, 101},
		{"pool-exhausted", fence.Seal, 41},
		{"power-loss-everysec", fence.Seal, 43},
		{"lost-unlock-message", fence.None, 29},
	} {
		sc, l := testruns.Load(t, tt.scenario)
		run := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{tt.mode}, Alone: true}).Modes[0]
		for step := 1; step <= run.Trace.Len(); step += tt.stride {
			s, err := play.Inspect(sc, l, 1, tt.mode, step)
			if err != nil {
				t.Errorf("%s in mode %s, step %d: %.1000v", tt.scenario, tt.mode, step, err)
				break
			}
			if s.Step < step || !s.Over && s.Event != run.Trace.Events[s.Step-1].String() {
				t.Errorf("%s in mode %s, step %d: step %d is %s", tt.scenario, tt.mode, step, s.Step, s.Event)
			}
		}
	}
}
