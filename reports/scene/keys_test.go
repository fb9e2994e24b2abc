package scene_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/sim/trace"
)

// The life of a key on a server lasts from its setting to its end, which is marked once. Who prolongs it meanwhile is
// told, by what the server recorded: a request that leaves it as it is, such as a script that deletes it, prolongs
// nothing.
func TestKeyLives(t *testing.T) {
	m := testreports.Paused(fence.None)
	change := func(step int, at time.Duration, value, by string, what trace.Change) trace.KeyChange {
		return trace.KeyChange{Step: step, At: at, Server: "r0", Key: "lock:order", Value: value, By: by, Change: what}
	}
	m.Trace = &trace.Trace{Servers: testreports.Servers()}
	for _, e := range []trace.Event{
		testreports.At(1, "r0", "c0", testreports.Exec("#1", "SET lock:order a NX PX 5000", "OK")),
		testreports.At(2, "r0", "c0", testreports.Exec("#1", "PEXPIRE lock:order 5000", "1")),
		testreports.At(3, "r0", "c1", testreports.Exec("#1", "PEXPIRE lock:order 5000", "1")),
		testreports.At(4, "r0", "c0", testreports.Exec("#1", "GET lock:order", "a")),
		testreports.At(5, "r0", "", trace.Expire{Key: "lock:order"}),
		testreports.At(6, "r0", "c1", testreports.Exec("#1", "SET lock:order b NX PX 5000", "OK")),
		testreports.At(7, "r0", "c0", testreports.Exec("#1", "evalsha release lock:order", "1")),
		testreports.At(8, "r0", "c0", testreports.Exec("#1", "SET lock:order c NX PX 5000", "OK")),
		testreports.At(9, "c1", "r0", testreports.Send("#1", "GET lock:order")),
		testreports.At(10, "r0", "c1", testreports.Exec("#1", "GET lock:order", "c")),
	} {
		m.Trace.Add(e)
	}
	at := func(n int) time.Duration { return m.Trace.Events[n-1].At }
	prolonged := func(step int, asked string) trace.KeyChange {
		c := change(step, at(step), "a", "", trace.KeyProlonged)
		c.Asked, c.WasOf = asked, "c0"
		return c
	}
	m.KeyChanges = []trace.KeyChange{change(1, at(1), "a", "c0", trace.KeySet), prolonged(2, "c0"), prolonged(3, "c1"),
		change(5, at(5), "", "", trace.KeyExpired),
		change(6, at(6), "b", "c1", trace.KeySet), change(7, at(7), "", "c0", trace.KeyDeleted),
		change(8, at(8), "c", "c0", trace.KeySet),
		change(10, at(10), "c", "", trace.KeySet)}
	lives, marks := scene.New(&m).KeyLives()
	var got []string
	for _, p := range lives {
		_, until, _ := strings.Cut(p.Description, ", until ")
		got = append(got, fmt.Sprintf("%s %d-%d %s", p.Client, p.Step, p.Until, until))
	}
	for _, m := range marks {
		got = append(got, fmt.Sprintf("%s at %d", m.Kind, m.Step))
	}
	want := "c0 1-5 it expired; c1 6-7 c0 deleted it; c0 8-10 other clients shared it; renewed at 2; renewed at 3; " +
		"deleted at 7"
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	story := scene.New(&m).KeyStory()
	if want := "The key lock:order on r0: c0 set it at 0.001s and prolonged it at 0.002s, c1 prolonged it at 0.003s, it " +
		"expired at 0.005s; c1 set it at 0.006s, c0 deleted it at 0.007s; c0 set it at 0.008s, other clients shared it at " +
		"0.010s."; len(story) != 1 || story[0] != want {
		t.Errorf("the story of the key is %q, want %q", story, want)
	}
	// A lease that clients end by their own clocks is not ended by the server.
	m.KeyChanges[3].ByClients = true
	if story := scene.New(&m).KeyStory(); !strings.Contains(story[0], "it was not renewed for as long as it says at "+
		"0.005s") {
		t.Errorf("the story of a lease that no server ends is %q", story)
	}
	// An operator has no name.
	m.KeyChanges[3].Change = trace.KeyOperated
	if story := scene.New(&m).KeyStory(); !strings.Contains(story[0], "an operator took it away at 0.005s") {
		t.Errorf("the story of a key that an operator deletes is %q", story)
	}
	m.KeyChanges[3].Change = trace.KeyExpired
	// An expiry that is not in the trace, as of a key that was learnt, has a mark too.
	m.KeyChanges[3].Step = 4
	if _, marks := scene.New(&m).KeyLives(); len(marks) != 4 || marks[2].Kind != scene.MarkExpire {
		t.Errorf("the marks are %v", marks)
	}
	m.KeyChanges = nil
	if lives, marks := scene.New(&m).KeyLives(); len(lives)+len(marks) > 0 {
		t.Errorf("without changes: %v, %v", lives, marks)
	}
}

// The own clock of a process differs from the time of the run by what faults have done to it.
func TestClocks(t *testing.T) {
	m := testreports.Paused(fence.None)
	m.Trace = &trace.Trace{Servers: testreports.Servers()}
	for _, e := range []trace.Event{
		{At: time.Second, Actor: "world", Peer: "c0", What: trace.ClockJump{By: 5 * time.Second}},
		{At: 2 * time.Second, Actor: "world", Peer: "r0", What: trace.ClockDrift{PPM: 500_000}},
		{At: 4 * time.Second, Actor: "world", Peer: "r0", What: trace.ClockDrift{}},
		{At: 5 * time.Second, Actor: "world", Peer: "c0", What: trace.ClockJump{By: -5 * time.Second}},
		{At: 6 * time.Second, Actor: "c0", Peer: "r0", What: testreports.Send("#1", "GET k")},
		{At: 6 * time.Second, Actor: "r0", Peer: "c0", What: testreports.Exec("#1", "GET k", "a")},
	} {
		m.Trace.Add(e)
	}
	var got []string
	for _, f := range scene.New(&m).Clocks() {
		got = append(got, f.Description)
	}
	want := "r0: own clock +0s to +1s, from 2s to 4s; c0: own clock +5s, from 1s to 5s; r0: own clock +1s, from 4s to 6s"
	if got := strings.ReplaceAll(strings.Join(got, "; "), ".000s", "s"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A message is late if it takes ten times as long as most, and 50 ms at least.
func TestLateMessages(t *testing.T) {
	m := testreports.Paused(fence.None)
	m.Trace = &trace.Trace{Servers: testreports.Servers()}
	for i, took := range []time.Duration{1, 1, 1, 60, 9} {
		conn := fmt.Sprintf("#%d", i+1)
		sent := testreports.At(1, "c0", "r0", testreports.Send(conn, "GET k"))
		came := testreports.At(1, "r0", "c0", testreports.Exec(conn, "GET k", "a"))
		came.At = sent.At + took*time.Millisecond
		m.Trace.Add(sent)
		m.Trace.Add(came)
	}
	late := ""
	for _, msg := range scene.New(&m).Messages() {
		if msg.Late {
			late += msg.Trouble()
		}
	}
	if !strings.HasSuffix(late, "late by 0.060s") || strings.Count(late, "late by") != 1 {
		t.Errorf("late are %q", late)
	}
}
