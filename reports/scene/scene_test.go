package scene_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// sceneOf is a scene of a run with events and a history only.
func sceneOf(h checker.History, events ...trace.Event) *scene.Scene {
	m := outcome.ModeRun{Mode: "none", Trace: &trace.Trace{Servers: testreports.Servers()}, History: h,
		Verdict: checker.Verdict{Facts: checker.Facts{Liveness: checker.LivenessOK}}}
	for _, e := range events {
		m.Trace.Add(e)
	}
	return scene.All(&outcome.Outcome{Modes: []outcome.ModeRun{m}})[0]
}

// A report says so if the machine of a live run was late by a tenth of a lease, or of a shorter time after which a
// client gives up.
func TestBusyMachineIsAnObstacle(t *testing.T) {
	for name, tc := range map[string]struct {
		workload file.Workload
		late     time.Duration
		busy     bool
		lag      time.Duration
	}{
		"at the limit of the lease":     {file.Workload{}, 200 * time.Millisecond, false, 0},
		"above it":                      {file.Workload{}, 201 * time.Millisecond, true, 0},
		"above that of a timeout":       {file.Workload{Timeout: 200 * time.Millisecond}, 21 * time.Millisecond, true, 0},
		"above that of a request":       {file.Workload{Request: time.Second}, 101 * time.Millisecond, true, 0},
		"above that of an acquire":      {file.Workload{AcquireWithin: time.Second}, 101 * time.Millisecond, true, 0},
		"above that of an extension":    {file.Workload{ExtendWithin: time.Second}, 101 * time.Millisecond, true, 0},
		"above that of a release":       {file.Workload{ReleaseWithin: time.Second}, 101 * time.Millisecond, true, 0},
		"a timeout longer than a lease": {file.Workload{Timeout: time.Minute}, 200 * time.Millisecond, false, 0},
		"above that of a replica":       {file.Workload{}, 21 * time.Millisecond, true, 200 * time.Millisecond},
	} {
		sc := &file.Scenario{Lock: file.LockSpec{TTL: 2 * time.Second}, Workload: tc.workload}
		sc.World.Lag.Min = tc.lag
		o := &outcome.Outcome{Scenario: sc,
			Modes: []outcome.ModeRun{{Mode: fence.None, Trace: &trace.Trace{Servers: testreports.Servers()}, Late: tc.late}}}
		if got := scene.Obstacles(o); (len(got) == 1) != tc.busy || tc.busy && !strings.Contains(got[0], tc.late.String()) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A difference of the two worlds is an obstacle if it is explained; else it is not as expected. That nothing was
// compared is one.
func TestExplainedDifferenceIsAnObstacle(t *testing.T) {
	d := outcome.Difference{Mode: fence.None, Live: map[checker.Label]int{checker.Safe: 1},
		Simulated: map[checker.Label]int{checker.Stuck: 20}}
	o := &outcome.Outcome{Scenario: &file.Scenario{}, Live: &outcome.Live{Differences: []outcome.Difference{d}}}
	if got := scene.Obstacles(o); len(got) > 0 {
		t.Errorf("without an explanation: %q", got)
	}
	o.Live.Differences[0].Why, o.Live.Uncompared = "the machine was late", "no such server"
	want := []string{
		"The worlds differ: mode none is safe in 1 of 1 live run, and never in the simulated world (20 seeds: stuck). " +
			"That is explained: the machine was late.",
		"The labels were not compared with those of the simulated world: no such server.",
	}
	if d := cmp.Diff(want, scene.Obstacles(o)); d != "" {
		t.Errorf("the obstacles (-want +got):\n%s", d)
	}
}

// piece is bytes of a protocol that the trace does not show: a greeting or a call.
type piece string

func (piece) AppendText(b []byte) []byte   { return append(b, "bytes"...) }
func (p piece) AppendHash(b []byte) []byte { return append(b, p...) }
func (p piece) Silent() bool               { return p == "greeting" }

// Each message ends at its arrival: answers are found by their connection, commands by
// the connection on which the node answers. A message without an arrival is lost.
func TestMessagesFindTheirArrivals(t *testing.T) {
	for name, tc := range map[string]struct {
		events []trace.Event
		want   []string
	}{
		"a round trip": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(2, "r0", "c0", testreports.Exec("#1", "GET k", "nil")),
				testreports.At(2, "r0", "c0", testreports.Send("#1", "nil")),
				testreports.At(4, "c0", "r0", trace.Receive{Conn: "#1", Bytes: 5})},
			[]string{"request c0>r0 1-2", "answer r0>c0 3-4"},
		},
		"two connections that overtake each other": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(2, "c0", "r0", testreports.Send("#2", "GET k")),
				testreports.At(3, "r0", "c0", testreports.Exec("#2", "GET k", "a")),
				testreports.At(3, "r0", "c0", testreports.Send("#2", "a")),
				testreports.At(4, "r0", "c0", testreports.Exec("#1", "GET k", "a")),
				testreports.At(4, "r0", "c0", testreports.Send("#1", "a"))},
			[]string{"request c0>r0 1-5", "request c0>r0 2-3", "answer r0>c0 4 lost", "answer r0>c0 6 lost"},
		},
		"a command that is not answered yet": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "SUBSCRIBE x")),
				testreports.At(1, "c0", "r0", testreports.Send("#2", "PING")),
				testreports.At(3, "r0", "c0", testreports.Exec("#2", "PING", "PONG"))},
			[]string{"request c0>r0 1 lost", "request c0>r0 2-3"},
		},
		"a blocking command is executed twice, and arrives once": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "BLPOP k 0")),
				testreports.At(2, "r0", "c0", trace.Exec{Conn: "#1", Request: testreports.Content("BLPOP k 0")}),
				testreports.At(3, "c0", "r0", testreports.Send("#1", "PING")),
				testreports.At(4, "r0", "c0", testreports.Exec("#1", "BLPOP k 0", "a")),
				testreports.At(5, "r0", "c0", testreports.Exec("#1", "PING", "PONG"))},
			[]string{"request c0>r0 1-2", "request c0>r0 3-5"},
		},
		"a command is found by its name in any case": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "SUBSCRIBE x")),
				testreports.At(1, "c0", "r0", testreports.Send("#1", "ping")),
				testreports.At(3, "r0", "c0", testreports.Exec("#1", "PING", "PONG"))},
			[]string{"request c0>r0 1 lost", "request c0>r0 2-3"},
		},
		"the pieces of a request arrive together": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "EVAL -- a long")),
				testreports.At(1, "c0", "r0", testreports.Send("#1", "script 0")),
				testreports.At(2, "r0", "c0", testreports.Exec("#1", "eval [long] 0", "1")),
				testreports.At(3, "c0", "r0", testreports.Send("#1", "PING")),
				testreports.At(4, "r0", "c0", testreports.Exec("#1", "PING", "PONG"))},
			[]string{"request c0>r0 1-3", "request c0>r0 2-3", "request c0>r0 4-5"},
		},
		"a request in pieces is lost as a whole, and a later request is not one of its pieces": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(2, "r0", "c0", testreports.Exec("#1", "GET k", "nil")),
				testreports.At(3, "c0", "r0", testreports.Send("#1", "EVAL -- a long")),
				testreports.At(3, "c0", "r0", testreports.Send("#1", "script 0"))},
			[]string{"request c0>r0 1-2", "request c0>r0 3 lost", "request c0>r0 4 lost"},
		},
		"an operation on the store is found by its id": {
			[]trace.Event{testreports.At(1, "c0", "s0", testreports.Send("#1", "WRITE order balance c0.w1 1 g -")),
				testreports.At(2, "c0", "s0", testreports.Send("#1", "WRITE order balance c0.w2 1 g -")),
				testreports.At(3, "s0", "c0", trace.Decision{Conn: "#1", Write: true, Resource: "order", Register: "balance",
					Op: "c0.w2", Token: 1, Grant: "g"})},
			[]string{"request c0>s0 1 lost", "request c0>s0 2-3"},
		},
		"a read of the store is not a write with its id": {
			[]trace.Event{testreports.At(1, "c0", "s0", testreports.Send("#1", "READ order balance c0.1 1 g -")),
				testreports.At(2, "c0", "s0", testreports.Send("#1", "WRITE order balance c0.1 1 g -")),
				testreports.At(3, "s0", "c0", trace.Decision{Conn: "#1", Write: true, Resource: "order", Register: "balance",
					Op: "c0.1", Token: 1, Grant: "g"})},
			[]string{"request c0>s0 1 lost", "request c0>s0 2-3"},
		},
		"without words, the oldest of the connection": {
			[]trace.Event{testreports.At(1, "c0", "n0", trace.Send{Conn: "#1", Content: trace.Bytes("take")}),
				testreports.At(1, "c0", "n0", trace.Send{Conn: "#2", Content: trace.Bytes("take")}),
				testreports.At(2, "c0", "n0", trace.Send{Conn: "#2", Content: trace.Bytes("give")}),
				testreports.At(3, "n0", "c0", trace.Exec{Conn: "#2", Request: trace.Text("take"), Answer: trace.Text("yes")}),
				testreports.At(4, "n0", "c0", trace.Exec{Conn: "#2", Request: trace.Text("give"), Answer: trace.Text("yes")})},
			[]string{"request c0>n0 1 lost", "request c0>n0 2-4", "request c0>n0 3-5"},
		},
		"what is no request is left out, and other bytes that look alike are not routine": {
			[]trace.Event{testreports.At(1, "c0", "e0", trace.Send{Conn: "#1", Content: piece("greeting")}),
				testreports.At(1, "c0", "e0", trace.Send{Conn: "#1", Content: piece("call")}),
				testreports.At(2, "e0", "c0", trace.Exec{Conn: "#1", Request: trace.Text("put"), Answer: trace.Text("done")}),
				testreports.At(3, "c0", "e0", trace.Send{Conn: "#1", Content: piece("call")}),
				testreports.At(4, "c0", "e0", trace.Send{Conn: "#1", Content: piece("call")})},
			[]string{"request c0>e0 2-3", "request c0>e0 4 lost", "request c0>e0 5 lost"},
		},
		"a reset loses the messages under way on its connection only": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(1, "c0", "r0", testreports.Send("#2", "GET k")),
				testreports.At(2, "world", "c0>r0", trace.Reset{Conn: "#1", Client: "c0", Server: "r0"}),
				testreports.At(3, "r0", "c0", testreports.Exec("#2", "GET k", "a")),
				testreports.At(3, "r0", "c0", testreports.Send("#2", "a"))},
			[]string{"request c0>r0 1 lost", "request c0>r0 2-4", "answer r0>c0 5 lost"},
		},
		"a reset loses requests and answers": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(1, "r0", "c0", testreports.Send("#1", "a")),
				testreports.At(2, "world", "c0>r0", trace.Reset{Conn: "#1", Client: "c0", Server: "r0"}),
				testreports.At(3, "r0", "c0", testreports.Exec("#1", "GET k", "a")),
				testreports.At(3, "c0", "r0", trace.Receive{Conn: "#1", Bytes: 3})},
			[]string{"request c0>r0 1 lost", "answer r0>c0 2 lost"},
		},
		"the same bytes three times are routine, and so are their answers": {
			[]trace.Event{testreports.At(1, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(2, "r0", "c0", testreports.Send("#1", "a")),
				testreports.At(3, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(4, "c0", "r0", testreports.Send("#1", "GET k")),
				testreports.At(5, "c0", "r0", testreports.Send("#1", "GET other")),
				testreports.At(6, "r0", "c0", testreports.Send("#1", "b"))},
			[]string{"request c0>r0 1 lost routine", "answer r0>c0 2 lost routine", "request c0>r0 3 lost routine",
				"request c0>r0 4 lost routine", "request c0>r0 5 lost", "answer r0>c0 6 lost"},
		},
		"a pong proves that the ping arrived, and nothing else does": {
			[]trace.Event{testreports.At(1, "c0", "z0", testreports.Send("#1", "ping")),
				testreports.At(2, "z0", "c0", testreports.Send("#1", "pong")),
				testreports.At(3, "c0", "z0", trace.Receive{Conn: "#1", Bytes: 5}),
				testreports.At(4, "c0", "z0", testreports.Send("#1", "ping")),
				testreports.At(5, "z0", "c0", testreports.Send("#1", "watch event"))},
			[]string{"request c0>z0 1-2", "answer z0>c0 2-3", "request c0>z0 4 lost", "answer z0>c0 5 lost"},
		},
		"the probe is left out where it found nothing": {
			[]trace.Event{testreports.At(1, "c0", "", testreports.Mark(trace.Acquire)),
				testreports.At(2, "probe", "r0", testreports.Send("#1", "GET k")),
				testreports.At(3, "r0", "probe", testreports.Exec("#1", "GET k", "nil"))},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range sceneOf(checker.History{}, tc.events...).Messages() {
				got = append(got, describeMessage(m))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("messages (-want +got):\n%s", d)
			}
		})
	}
}

func describeMessage(m scene.Message) string {
	text := fmt.Sprintf("%s %s>%s %d", m.Kind, m.From, m.To, m.Step)
	if m.Until > 0 {
		text += fmt.Sprintf("-%d", m.Until)
	}
	if m.Lost {
		text += " lost"
	}
	if m.Routine {
		text += " routine"
	}
	return text
}

// A fault is on the lanes that it affects, on both sides of a partition, and ends with
// the event that ends it and not with that of another fault.
func TestFaults(t *testing.T) {
	names := []trace.Event{testreports.At(0, "c0", "", testreports.Mark(trace.Acquire)),
		testreports.At(0, "c1", "", testreports.Mark(trace.Acquire)), testreports.At(0, "r0", "", trace.Expire{}),
		testreports.At(0, "r1", "", trace.Expire{})}
	read := testreports.Mark(trace.Read)
	cut := func(bytes string, and ...string) trace.Cut {
		return trace.Cut{Between: []string{"c0"}, And: and, Bytes: bytes, Direction: "both"}
	}
	heal := trace.Heal{Between: []string{"c0"}}
	latency := trace.Toxic{Name: "latency", Between: []string{"c0"}, And: []string{"r0"}, Direction: "both",
		For: time.Second}
	endOf := func(name string) trace.ToxicEnd { return trace.ToxicEnd{Name: name, Between: []string{"c0"}} }
	for name, tc := range map[string]struct {
		events []trace.Event
		want   []string
	}{
		"a pause": {[]trace.Event{testreports.At(1, "world", "c0", trace.Pause{For: 2 * time.Second}),
			testreports.At(3, "world", "c0", trace.Resume{})}, []string{"c0 1-3 paused 2s"}},
		"a pause to the end": {[]trace.Event{testreports.At(1, "world", "c1", trace.Pause{For: 2 * time.Second}),
			testreports.At(3, "world", "c0", trace.Resume{}), testreports.At(9, "c0", "", read)},
			[]string{"c1 1-9 paused 2s"}},
		"a partition": {[]trace.Event{testreports.At(1, "world", "c0", cut("drop", "r0", "r1")),
			testreports.At(5, "world", "c0", heal)},
			[]string{"c0 1-5 cut off from r0,r1", "r0 1-5 cut off from c0", "r1 1-5 cut off from c0"}},
		"two partitions of one client, one after the other": {[]trace.Event{testreports.At(1, "world", "c0",
			cut("drop", "r0")), testreports.At(2, "world", "c0", heal),
			testreports.At(3, "world", "c0", cut("hold", "r1")), testreports.At(4, "world", "c0", heal)},
			[]string{"c0 1-2 cut off from r0", "r0 1-2 cut off from c0", "c0 3-4 cut off from r1", "r1 3-4 cut off from c0"}},
		"a bad network": {[]trace.Event{testreports.At(1, "world", "c0", latency),
			testreports.At(2, "world", "c0", endOf("bandwidth")), testreports.At(3, "world", "c0", endOf("latency"))},
			[]string{"c0 1-3 network latency", "r0 1-3 network latency"}},
		"a jump of a clock": {[]trace.Event{testreports.At(2, "world", "r1", trace.ClockJump{By: 15 * time.Second}),
			testreports.At(9, "c0", "", read)}, []string{"r1 2-2 clock jumps +15s"}},
		"a drift that ends": {[]trace.Event{testreports.At(2, "world", "r1", trace.ClockDrift{PPM: 100}),
			testreports.At(4, "world", "r1", trace.ClockDrift{}), testreports.At(9, "c0", "", read)},
			[]string{"r1 2-4 clock drifts 100 ppm"}},
		"a participant without a lane": {[]trace.Event{testreports.At(1, "world", "c7", trace.Pause{For: 2 * time.Second}),
			testreports.At(1, "world", "x", trace.Evict{})}, []string{"c7 1-1 paused 2s"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range sceneOf(checker.History{}, append(names, tc.events...)...).Faults() {
				got = append(got, fmt.Sprintf("%s %d-%d %s", b.Lane, b.Start.Milliseconds(), b.End.Milliseconds(), b.Text))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

// Each fault has its text on a lane, and lasts until its end or strikes at one moment.
func TestWordsOfFaults(t *testing.T) {
	clients, r0 := []string{"c0", "c1"}, []string{"r0"}
	for _, tt := range []struct {
		what trace.What
		end  trace.What // nil for what strikes once
		want string     // on the lane of r0
	}{
		{trace.Pause{For: 2 * time.Second}, trace.Resume{}, "paused 2s"},
		{trace.Crash{Mode: "power"}, trace.Restart{Kept: "3 keys kept"}, "down power"},
		{trace.Cut{Between: clients, And: r0, Bytes: "drop", Direction: "both"}, trace.Heal{Between: clients},
			"cut off from c0,c1"},
		{trace.Cut{Between: r0, And: clients, Bytes: "drop", Direction: "both"}, trace.Heal{Between: r0},
			"cut off from c0,c1"},
		{trace.Cut{Between: r0, Bytes: "drop", Direction: "both"}, trace.Heal{Between: r0}, "cut off from everything else"},
		{trace.Slow{By: time.Second, For: 3 * time.Second}, trace.SlowEnd{}, "slow timers late by 1s"},
		{trace.Stall{For: 3 * time.Second}, trace.StallEnd{}, "stalled for 3s"},
		{trace.Refuse{}, trace.RefuseEnd{}, "refuses connections until healed"},
		{trace.ReadOnly{For: 3 * time.Second}, trace.ReadOnlyEnd{}, "read-only for 3s"},
		{trace.Depart{For: 3 * time.Second}, trace.DepartEnd{}, "out of its cluster for 3s"},
		{trace.Toxic{Name: "latency 1s", Between: r0, For: time.Second}, trace.ToxicEnd{Name: "latency 1s", Between: r0},
			"network latency 1s"},
		{trace.Exhaust{Connections: 16, For: 3 * time.Second}, trace.ExhaustEnd{}, "pool exhausted 16 connections, for 3s"},
		{trace.ClockDrift{PPM: -100}, trace.ClockDrift{}, "clock drifts -100 ppm"},
		{trace.Reset{Conn: "#1", Client: "c0", Server: "r0"}, nil, "connection reset #1"},
		{trace.ClockJump{By: -3 * time.Second}, nil, "clock jumps -3s"},
		{trace.KillWorker{}, nil, "worker dies"},
		{trace.Promote{Old: "r1", Fate: "is gone", Follows: true, Has: 2, Of: 3}, nil, "promoted old primary r1 is gone, " +
			"with 2 of its 3 effects"},
		{trace.NotPromoted{Role: "down"}, nil, "not promoted it is down"},
		{trace.Evict{Policy: "allkeys-lru", Keys: []string{"a", "b"}}, nil, "evicts allkeys-lru: a b"},
		{trace.Flush{What: "data"}, nil, "flushed data"},
	} {
		want := "1-2 " + tt.want
		events := []trace.Event{testreports.At(0, "c0", "", testreports.Mark(trace.Acquire)),
			testreports.At(0, "c1", "", testreports.Mark(trace.Acquire)), testreports.At(0, "r0", "", trace.Expire{}),
			testreports.At(1, "world", "r0", tt.what), testreports.At(2, "world", "r0", tt.end),
			testreports.At(3, "c0", "", testreports.Mark(trace.Read))}
		if tt.end == nil {
			want = "1-1 " + tt.want
			events = slices.Delete(events, 4, 5)
		}
		var got []string
		for _, b := range sceneOf(checker.History{}, events...).Faults() {
			if b.Lane == "r0" {
				got = append(got, fmt.Sprintf("%d-%d %s", b.Start.Milliseconds(), b.End.Milliseconds(), b.Text))
			}
			if b.Moment != (tt.end == nil) {
				t.Errorf("%s on %s: it is a moment: %v", b.Text, b.Lane, b.Moment)
			}
		}
		if d := cmp.Diff([]string{want}, got); d != "" {
			t.Errorf("%T (-want +got):\n%s", tt.what, d)
		}
	}
}

// Overlaps are the spans with two holders, and those that touch are joined.
func TestOverlaps(t *testing.T) {
	events := make([]trace.Event, 12)
	for i := range events {
		events[i] = testreports.At(i+1, []string{"c0", "c1"}[i%2], "", testreports.Mark(trace.Point))
	}
	grant := func(id int, client string, from, released checker.Pos) checker.Grant {
		return checker.Grant{ID: id, Client: client, Resource: "order", Granted: from, Released: released}
	}
	for name, tc := range map[string]struct {
		history checker.History
		want    []string
	}{
		"apart": {checker.History{Grants: []checker.Grant{grant(1, "c0", 1, 3), grant(2, "c1", 3, 5)}}, nil},
		"overlapping": {checker.History{Grants: []checker.Grant{grant(2, "c1", 3, 7), grant(1, "c0", 1, 5)}},
			[]string{"belief 3-5", "claim 3-5"}},
		"one inside two": {checker.History{Grants: []checker.Grant{grant(1, "c0", 1, 9), grant(2, "c1", 2, 4),
			grant(3, "c1", 4, 6)}}, []string{"belief 2-6", "claim 2-6"}},
		"to the end": {checker.History{Grants: []checker.Grant{grant(1, "c0", 1, 0), grant(2, "c1", 4, 0)}},
			[]string{"belief 4-12", "claim 4-12"}},
		"the same client": {checker.History{Grants: []checker.Grant{grant(1, "c0", 1, 5), grant(2, "c0", 2, 4)}},
			[]string{"belief 2-4", "claim 2-4"}},
		"it may enter again": {checker.History{Entry: checker.EntryReentrant, Grants: []checker.Grant{grant(1, "c0", 1, 5),
			grant(2, "c0", 2, 4)}}, nil},
		"beliefs and no more": {checker.History{Grants: []checker.Grant{{ID: 1, Client: "c0", Resource: "order", Granted: 1,
			Until: 3, Released: 8}, grant(2, "c1", 5, 7)}}, []string{"belief 5-7"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range sceneOf(tc.history, events...).Overlaps() {
				got = append(got, fmt.Sprintf("%s %d-%d", s.Kind, s.Start.Milliseconds(), s.End.Milliseconds()))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("overlaps (-want +got):\n%s", d)
			}
		})
	}
}

// Around keeps the part of a long list that is around the decisive step.
func TestAround(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i + 1
	}
	for step, want := range map[int][2]int{0: {1, 8}, 1: {1, 8}, 50: {45, 52}, 100: {93, 100}} {
		got := scene.Around(all, 8, step, func(n int) int { return n })
		if got[0] != want[0] || got[len(got)-1] != want[1] || len(got) != 8 {
			t.Errorf("around step %d: %v, want %v", step, got, want)
		}
	}
}

// The excerpt of a long story has its opening, its decisive step and the steps after
// it.
func TestExcerpt(t *testing.T) {
	var lines []outcome.Line
	for i := range 300 {
		lines = append(lines, outcome.Line{N: i + 1, Fatal: i == 199})
	}
	got := scene.Excerpt(lines)
	if len(got) != scene.MaxSteps+2 || got[scene.Opening].LeftOut != 199+1+scene.Aftermath-scene.MaxSteps ||
		got[len(got)-1].LeftOut != 300-200-scene.Aftermath {
		t.Errorf("%d lines, with %d and %d left out", len(got), got[scene.Opening].LeftOut, got[len(got)-1].LeftOut)
	}
	if n := len(got); !got[n-2-scene.Aftermath].Fatal {
		t.Errorf("the decisive step is not %d lines before the end", scene.Aftermath)
	}
	lines[50].Decides = true
	if got = scene.Excerpt(lines); len(got) != scene.MaxSteps+4 || got[scene.Opening+1].Step != 51 {
		t.Errorf("a line that decides the run is left out: %d lines", len(got))
	}
	lines[50].Decides, lines[199].Fatal = false, false
	if got = scene.Excerpt(lines); len(got) != scene.MaxSteps+1 || got[scene.MaxSteps].LeftOut != 300-scene.MaxSteps {
		t.Errorf("without a decisive step there are %d lines", len(got))
	}
}

// The participants have lanes in a fixed order, with their kind in the description.
func TestLanes(t *testing.T) {
	s := sceneOf(checker.History{Holdings: []checker.Holding{{Client: "c0", Resource: "order", From: 1}}},
		testreports.At(1, "c10", "", testreports.Mark(trace.Acquire)),
		testreports.At(1, "c2", "reg0", testreports.Send("#1", "take")),
		testreports.At(1, "c2", "r9", testreports.Send("#1", "take")),
		testreports.At(1, "c2", "r1", testreports.Send("#1", "PING")),
		testreports.At(1, "c2", "r0a", testreports.Send("#1", "PING")),
		testreports.At(1, "world", "nobody at all", trace.Evict{}))
	var got []string
	for _, l := range s.Lanes() {
		got = append(got, fmt.Sprintf("%s %s: %s", l.Kind, l.Name, l.Description))
		if s.LaneKind(l.Name) != l.Kind {
			t.Errorf("lane %s is of kind %q and of kind %q", l.Name, l.Kind, s.LaneKind(l.Name))
		}
	}
	want := []string{"client c2: client c2", "client c10: client c10", "record lock: the lock, by the nodes' own record",
		"node r0a: Redis node r0a", "node r1: Redis node r1", "node r9: server r9", "node reg0: server reg0",
		"store s0: the store s0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lanes (-want +got):\n%s", d)
	}
	if kind := s.LaneKind("nobody at all"); kind != "" {
		t.Errorf("a name that is no participant has a lane of kind %q", kind)
	}
}

// Waits, beliefs and claims begin and end as in the history, each with its text.
func TestPeriods(t *testing.T) {
	events := make([]trace.Event, 9)
	for i := range events {
		events[i] = testreports.At(i+1, []string{"c0", "c1"}[i%2], "r0", testreports.Mark(trace.Point))
	}
	events[5].Actor, events[5].What = "r0", trace.Expire{Key: "lock:order"}
	s := sceneOf(checker.History{
		Grants: []checker.Grant{{ID: 1, Client: "c0", Resource: "order", Token: 7, Invoked: 1, Granted: 3, Until: 6,
			Released: 8}, {ID: 2, Client: "c9", Granted: 4}},
		Attempts: []checker.Attempt{{Client: "c1", Resource: "order", Invoked: 2, Returned: 4}},
		Holdings: []checker.Holding{{Client: "c0", Resource: "order", From: 3, To: 6}},
	}, events...)
	var got []string
	for _, p := range s.Periods() {
		got = append(got, fmt.Sprintf("%s %s %d-%d %q: %s", p.Kind, p.Lane, p.Step, p.Until, p.Text, p.Description))
	}
	want := []string{
		`wait c0 1-3 "": c0 waits for the lock, from 0.001s to 0.003s`,
		`wait c1 2-4 "": c1 asks for the lock in vain, from 0.002s to 0.004s`,
		`belief c0 3-8 "": c0 believes that it holds the lock with token 7, from 0.003s to 0.008s, until it released`,
		`claim c0 3-6 "token 7": c0 has a claim with token 7, from 0.003s to 0.006s, until its validity ended`,
		`hold lock 3-6 "c0": by the record of the nodes c0 has the lock, from 0.003s to 0.006s, until the key expired on r0`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("periods (-want +got):\n%s", d)
	}
}

// A poll stands for requests that a client repeats, and for their answers, up to a request
// that is another one. The exchange that took the lock is none, and neither is what was
// lost.
func TestPolls(t *testing.T) {
	ask := func(ms int) []trace.Event {
		return []trace.Event{testreports.At(ms, "c0", "r0", testreports.Send("#1", "SET k")),
			testreports.At(ms+1, "r0", "c0", testreports.Exec("#1", "SET k", "nil")),
			testreports.At(ms+1, "r0", "c0", testreports.Send("#1", "nil")),
			testreports.At(ms+2, "c0", "r0", trace.Receive{Conn: "#1", Bytes: 5})}
	}
	asks := slices.Concat(ask(10), ask(20), ask(30), ask(40)) // steps 1 to 16
	other := []trace.Event{testreports.At(35, "c0", "r0", testreports.Send("#1", "GET other"))}
	grant := checker.Grant{ID: 1, Client: "c0", Resource: "order", Invoked: 1, Granted: 17}
	for name, tc := range map[string]struct {
		history checker.History
		events  []trace.Event
		want    []string
	}{
		"four requests and their answers": {checker.History{}, asks, []string{"c0 10-42 r0, 4 requests: 1 3 5 7 9 11 13 15"}},
		"the last took the lock": {checker.History{Grants: []checker.Grant{grant}},
			append(slices.Clone(asks), testreports.At(43, "c0", "", testreports.Mark(trace.Granted))),
			[]string{"c0 10-32 r0, 3 requests: 1 3 5 7 9 11"}},
		"another request ends it": {checker.History{}, slices.Concat(ask(10), ask(20), ask(30), other, ask(40)),
			[]string{"c0 10-32 r0, 3 requests: 1 3 5 7 9 11"}},
		"two in succession are too few": {checker.History{}, slices.Concat(ask(10), ask(20), other, ask(40)), nil},
		"lost requests are shown as lost": {checker.History{},
			append(slices.Clone(asks), testreports.At(50, "c0", "r0", testreports.Send("#1", "SET k"))),
			[]string{"c0 10-42 r0, 4 requests: 1 3 5 7 9 11 13 15"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sceneOf(tc.history, tc.events...)
			var got []string
			for _, p := range s.Polls(s.Messages()) {
				got = append(got, fmt.Sprintf("%s %d-%d %s, %d requests: %s", p.Lane, p.Start.Milliseconds(), p.End.Milliseconds(),
					strings.Join(p.Servers, " "), p.Requests,
					strings.Trim(fmt.Sprint(p.Steps), "[]")))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("polls (-want +got):\n%s", d)
			}
		})
	}
}

// The focus of a run begins with the grants that are in force at the decisive step, and
// with the faults during them.
func TestFocus(t *testing.T) {
	events := make([]trace.Event, 12)
	for i := range events {
		events[i] = testreports.At(i+1, []string{"c0", "c1"}[i%2], "", testreports.Mark(trace.Point))
	}
	events[2] = testreports.At(3, "world", "c0", trace.Pause{For: 4 * time.Millisecond})
	events[6] = testreports.At(7, "world", "c0", trace.Resume{})
	grant := func(id int, client string, from, released checker.Pos) checker.Grant {
		return checker.Grant{ID: id, Client: client, Resource: "order", Granted: from, Released: released}
	}
	for name, tc := range map[string]struct {
		fatal  int
		grants []checker.Grant
		want   string
	}{
		"no decisive step":                      {0, []checker.Grant{grant(1, "c0", 2, 0)}, "none"},
		"two grants and a pause":                {10, []checker.Grant{grant(1, "c0", 4, 11), grant(2, "c1", 8, 12)}, "3-10"},
		"the pause was over before":             {10, []checker.Grant{grant(1, "c0", 8, 11)}, "8-10"},
		"no grant in force: the last one":       {10, []checker.Grant{grant(1, "c0", 1, 2), grant(2, "c1", 8, 9)}, "8-10"},
		"a later grant does not count":          {9, []checker.Grant{grant(1, "c0", 8, 10), grant(2, "c1", 11, 0)}, "8-9"},
		"that of the operation, which was over": {10, []checker.Grant{grant(7, "c0", 2, 3), grant(2, "c1", 8, 12)}, "2-10"},
		"without grants: the step":              {10, nil, "10-10"},
		"the belief outlives the claim": {10,
			[]checker.Grant{{ID: 1, Client: "c0", Resource: "order", Granted: 2, Until: 6, Released: 11}}, "2-10"},
	} {
		t.Run(name, func(t *testing.T) {
			ops := []checker.Op{{ID: "c0.w2", Grant: 7, Applied: 10}} // of a grant that only one case has
			s := sceneOf(checker.History{Grants: tc.grants, Ops: ops}, events...)
			s.Fatal = tc.fatal
			got := "none"
			if f := s.Focus(); f != nil {
				got = fmt.Sprintf("%d-%d", f.Start.Milliseconds(), f.End.Milliseconds())
			}
			if got != tc.want {
				t.Errorf("the focus is %s, want %s", got, tc.want)
			}
		})
	}
}

// The headline says that two clients held the lock at once, where they did, and names modes
// that ended alike together.
func TestHeadline(t *testing.T) {
	run := func(mode fence.Mode, label checker.Label, claims int) outcome.ModeRun {
		return outcome.ModeRun{Mode: mode, Trace: new(trace.Trace),
			Verdict: checker.Verdict{Label: label, Facts: checker.Facts{ClaimOverlaps: claims}}}
	}
	for want, runs := range map[string][]outcome.ModeRun{
		"With no fence the data ended corrupted; with fencing check the fencing token saved the data.": {
			run("none", checker.Corrupted, 0), run("check", checker.Rescued, 0)},
		"Two clients held the lock at once: with no fence the data ended corrupted; with fencing check or seal the fencing token saved the data.": {
			run("none", checker.Corrupted, 2), run("check", checker.Rescued, 1), run("seal", checker.Rescued, 1)},
		"With no fence two clients held the lock at once, and the data ended corrupted; with fencing check nothing went wrong.": {
			run("none", checker.Corrupted, 1), run("check", checker.Safe, 0)},
		"Two clients held the lock at once: with no fence no harm came of it.": {run("none",
			checker.Overlap, 1)},
		"Two clients believed at once that they held the lock: with no fence no harm came of it.": {run("none",
			checker.Overlap, 0)},
		"With fencing check, claim or cas the fence saved the data.": {
			run("check", checker.Rescued, 0), run("claim", checker.Rescued, 0), run("cas", checker.Rescued, 0)},
	} {
		if got := scene.Headline(&outcome.Outcome{Modes: runs}); got != want {
			t.Errorf("the headline is\n%s\nwant\n%s", got, want)
		}
	}
}

// The headline says of each label how a run with it ended.
func TestHeadlineOfEachLabel(t *testing.T) {
	for _, label := range checker.Labels() {
		if label == checker.NotApplicable {
			continue // such a run was not made
		}
		o := &outcome.Outcome{Modes: []outcome.ModeRun{{Mode: fence.None, Trace: new(trace.Trace),
			Verdict: checker.Verdict{Label: label}}}}
		_, ending, found := strings.Cut(scene.Headline(o), "fence")
		if len(strings.TrimSpace(ending)) < len("it was so") || !found {
			t.Errorf("%s: %q", label, scene.Headline(o))
		}
	}
}
