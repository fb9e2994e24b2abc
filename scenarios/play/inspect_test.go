package play_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
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

// clocked are leases that read the clock of their client whenever they are asked how long they last.
type clocked struct {
	lock.Locker
	clock lock.Clock
}

func (c clocked) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := c.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return clockedLease{l, c.clock}, nil
}

type clockedLease struct {
	lock.Lease
	clock lock.Clock
}

// Until is now and what is left.
func (l clockedLease) Until() time.Time {
	now := l.clock.Now()
	return now.Add(l.Lease.Until().Sub(now))
}

// A paused client cannot read its clock, but the harness can ask a lease until when it lasts that reads it: in an
// inspection, which would not end, and for the end of the claim, which is in the pause and not after it.
func TestUntilReadsTheClock(t *testing.T) {
	sc := testruns.Parse(t, `
name: paused
title: paused
why: paused
world: {redis: 1, clients: 2, latency: 1ms..1ms}
lock: {kind: plain, ttl: 3s, backoff: 100ms..100ms}
workload: {rounds: 1, hold: 100ms, stagger: 100ms}
faults:
  - when: {client: c0, event: write, nth: 1}
    pause: {process: c0, for: 10s}
expect: {}
`)
	plain := testlocks.UserLock("plain", func(_ subject.Env, l lock.Locker) lock.Locker { return l })
	reads := testlocks.UserLock("plain", func(e subject.Env, l lock.Locker) lock.Locker { return clocked{l, e.Clock()} })
	want := testruns.Play(t, sc, plain, play.RunOptions{Seed: 1, Alone: true, Modes: []fence.Mode{fence.None}}).Modes[0]
	got := testruns.Play(t, sc, reads, play.RunOptions{Seed: 1, Alone: true, Modes: []fence.Mode{fence.None}}).Modes[0]
	paused, over := 0, 0
	for _, e := range got.Trace.Events {
		switch what := e.What.(type) {
		case trace.Pause:
			paused = e.N
		case trace.Mark:
			if what.Step == trace.Until && e.Actor == "c0" && over == 0 {
				over = e.N
			}
		}
		if e.N > want.Trace.Len() || e.String() != want.Trace.Events[e.N-1].String() {
			t.Fatalf("step %d differs from a lock that does not read the clock: %s", e.N, e)
		}
	}
	for _, step := range []int{paused + 1, over} {
		s, err := play.Inspect(sc, reads, 1, "none", step)
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Clients[0]; c.Condition != "paused" || c.Holds != (step != over) || (c.Left > 0) != c.Holds {
			t.Errorf("at step %d: %+v", step, c)
		}
	}
}
