package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/sim/trace"
)

// What the world does is told by the phase in which it meets each client, and by
// what the others are about.
func TestFeaturesOfARun(t *testing.T) {
	run := &trace.Trace{}
	for _, e := range []trace.Event{
		{Actor: "c0", Kind: "acquire"}, {Actor: "c0", Kind: "send", Peer: "r0"},
		{Actor: "world", Kind: "pause", Peer: "c0"},
		{Actor: "r0", Kind: "exec", Peer: "c0"},
		{Actor: "world", Kind: "resume", Peer: "c0"},
		{Actor: "c0", Kind: "recv", Peer: "r0"}, {Actor: "c0", Kind: "point", Text: "locked"},
		{Actor: "world", Kind: "clock-jump", Peer: "c0"},
		{Actor: "c0", Kind: "granted"}, {Actor: "c0", Kind: "read"}, {Actor: "c1", Kind: "acquire"},
		{Actor: "world", Kind: "cut", Peer: "c0,c1"},
		{Actor: "c0", Kind: "until"},
		{Actor: "world", Kind: "stall", Peer: "r0"},
		{Actor: "world", Kind: "crash", Peer: "c0"},
		{Actor: "world", Kind: "heal", Peer: "c0"},
		{Actor: "c1", Kind: "send", Peer: "s0"}, // which is not the lock's
		{Actor: "c1", Kind: "not-granted"},
		{Actor: "world", Kind: "pause", Peer: "c1"},
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
	for _, kind := range []string{"acquire", "granted", "until", "release", "released", "acquire"} {
		run.Add(trace.Event{Actor: "c0", Kind: kind})
	}
	run.Add(trace.Event{Actor: "world", Kind: "pause", Peer: "c0"})
	if f := featuresOf(run)[0]; f.expired || f.phase != asking {
		t.Errorf("%+v, want a client that asks, with no lease to end", f)
	}
}
