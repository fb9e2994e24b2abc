package evidence_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// A timeline has the instants of all events, and of each the part that evidence needs.
func TestTimelineOf(t *testing.T) {
	done := trace.Text("OK")
	made := &trace.Trace{}
	for i, e := range []trace.Event{
		{Actor: "c0", Peer: "r0", What: trace.Send{}},
		{Actor: "r0", Peer: "c0", What: trace.Send{}},
		{Actor: "c0", Peer: "r0", What: trace.Receive{}},
		{Actor: "probe", Peer: "r0", What: trace.Receive{}},
		{Actor: "r0", Peer: "c0", What: trace.Exec{Conn: "#2", Request: done, Answer: done}},
		{Actor: "r0", Peer: "c1", What: trace.Exec{Conn: "#3", Request: done}},
		{Actor: trace.World, Peer: "c0", What: trace.Crash{Mode: "process"}},
		{Actor: trace.World, Peer: "c1", What: trace.Crash{Mode: trace.Exit}},
		{Actor: trace.World, Peer: "c1", What: trace.Crash{Mode: "process", Panic: "nil\nmap"}},
		{Actor: trace.World, Peer: "c0", What: trace.KillWorker{}},
		{Actor: trace.World, Peer: "c0", What: trace.Restart{}},
		{Actor: trace.World, Peer: "r0a", What: trace.Promote{Old: "r0"}},
		{Actor: "r0b", What: trace.ReplicaOf{Was: "r0a"}},
		{Actor: "r0a", What: trace.ReplicaOf{Primary: "r0b"}},
		{Actor: trace.World, Peer: "c0", What: trace.Pause{For: time.Second}},
	} {
		e.N, e.At = i+1, tenth(i+1)
		made.Events = append(made.Events, e)
	}
	want := evidence.Timeline{
		Messages: []evidence.Message{{At: 1, Client: "c0", Peer: "r0"}, {At: 3, Client: "c0", Peer: "r0", Received: true}},
		Requests: []evidence.Request{{At: 5, Client: "c0", Conn: "#2"}, {At: 6, Client: "c1", Conn: "#3", Waits: true}},
		Ends: []evidence.End{{At: 7, Name: "c0"}, {At: 8, Name: "c1", Exit: true},
			{At: 9, Name: "c1", Panic: "nil map"}, {At: 10, Name: "c0"}},
		Starts:     []evidence.Start{{At: 11, Name: "c0"}},
		Promotions: []evidence.Promotion{{At: 12, To: "r0a"}, {At: 13, To: "r0b"}},
	}
	for i := range made.Events {
		want.At = append(want.At, tenth(i+1))
	}
	clients := []string{"c0", "c1"}
	if diff := cmp.Diff(want, evidence.TimelineOf(made, clients)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	made.Events[2].Within = time.Millisecond
	want.Within = make([]time.Duration, len(made.Events))
	want.Within[2] = time.Millisecond
	if diff := cmp.Diff(want, evidence.TimelineOf(made, clients)); diff != "" {
		t.Errorf("with instants that are not exact: (-want +got):\n%s", diff)
	}
}
