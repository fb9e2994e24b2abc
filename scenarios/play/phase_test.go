package play

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/sim/trace"
)

// What the world does is told by the phase in which it meets each client, and by
// what the others are about.
func TestFeaturesOfARun(t *testing.T) {
	run := &trace.Trace{}
	mark := func(step trace.Step) trace.What { return trace.Mark{Step: step, Resource: "order"} }
	sent := trace.Send{Conn: "#1", Content: trace.Text("SET")}
	for _, e := range []trace.Event{
		{Actor: "c0", What: mark(trace.Acquire)}, {Actor: "c0", What: sent, Peer: "r0"},
		{Actor: "world", What: trace.Pause{For: 1}, Peer: "c0"},
		{Actor: "r0", What: trace.Exec{Conn: "#1", Request: trace.Text("SET"), Answer: trace.Text("OK")}, Peer: "c0"},
		{Actor: "world", What: trace.Resume{}, Peer: "c0"},
		{Actor: "c0", What: trace.Receive{Conn: "#1", Bytes: 5}, Peer: "r0"}, {Actor: "c0", What: trace.Mark{Step: trace.Point, Label: "locked"}},
		{Actor: "world", What: trace.ClockJump{By: 1}, Peer: "c0"},
		{Actor: "c0", What: mark(trace.Granted)}, {Actor: "c0", What: trace.Mark{Step: trace.Read, Op: "c0.r1"}}, {Actor: "c1", What: mark(trace.Acquire)},
		{Actor: "world", What: trace.Cut{Between: []string{"c0", "c1"}}, Peer: "c0,c1"},
		{Actor: "c0", What: mark(trace.Until)},
		{Actor: "world", What: trace.Stall{}, Peer: "r0"},
		{Actor: "world", What: trace.Crash{Mode: "process"}, Peer: "c0"},
		{Actor: "world", What: trace.Heal{Between: []string{"c0"}}, Peer: "c0"},
		{Actor: "c1", What: sent, Peer: "s0"}, // which is not the lock's
		{Actor: "c1", What: trace.Mark{Step: trace.NotGranted, Problem: "no"}},
		{Actor: "world", What: trace.Pause{For: 1}, Peer: "c1"},
	} {
		run.Add(e)
	}
	want := []feature{
		{"pause", asking, "", request, false, "alone"},
		{"resume", asking, "", reply, false, "alone"},
		{"clock-jump", asking, "locked", nothing, false, "alone"},
		{"cut", working, "", nothing, false, "another waits"},
		{"cut", asking, "", nothing, false, "another holds"},
		{"stall", working, "", nothing, true, "another waits"},
		{"stall", asking, "", nothing, false, "another holds"},
		{"crash", working, "", nothing, true, "another waits"},
		{"heal", gone, "", nothing, false, "another waits"},
		{"pause", atRest, "", nothing, false, "alone"},
	}
	if diff := cmp.Diff(want, featuresOf(run), cmp.AllowUnexported(feature{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The end of a lease is of the past once the client asks again.
func TestExpiryIsForgotten(t *testing.T) {
	run := &trace.Trace{}
	for _, step := range []trace.Step{trace.Acquire, trace.Granted, trace.Until, trace.Release, trace.Released, trace.Acquire} {
		run.Add(trace.Event{Actor: "c0", What: trace.Mark{Step: step, Resource: "order"}})
	}
	run.Add(trace.Event{Actor: "world", What: trace.Pause{For: 1}, Peer: "c0"})
	if f := featuresOf(run)[0]; f.expired || f.phase != asking {
		t.Errorf("%+v, want a client that asks, with no lease to end", f)
	}
}
