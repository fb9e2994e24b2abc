package reports_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// large is a run of n rounds of two clients, of about ten events each.
func large(mode fence.Mode, n int) play.ModeRun {
	m := paused(mode)
	m.History.Final, m.History.Ops = map[checker.Cell]string{}, nil
	set := says("SET lock:order id NX PX 5000")
	for i := range n {
		at, c := 21*time.Second+time.Duration(i)*time.Second, fmt.Sprintf("c%d", i%2)
		from := checker.Pos(m.Trace.Len() + 1)
		id, token := fmt.Sprintf("%s.w%d", c, i+3), uint64(i+3)
		write := written(token, id, c+".g1")
		for _, e := range []trace.Event{
			{Actor: c, What: trace.Mark{Step: trace.Acquire, Resource: "order"}},
			{Actor: c, Peer: "r0", What: trace.Send{Conn: "#1", Content: set}},
			{Actor: "r0", Peer: c, What: trace.Exec{Conn: "#1", Request: set, Answer: says("OK")}},
			{Actor: "r0", Peer: c, What: trace.Send{Conn: "#1", Content: says("OK")}},
			{Actor: c, What: trace.Mark{Step: trace.Granted, Resource: "order", Token: token}},
			{Actor: c, Peer: "s0", What: trace.Send{Conn: "#1", Content: words{trace.Text(fmt.Sprintf("WRITE order balance %s %d %s.g1 -", id, token, c)), write.Brief()}}},
			{Actor: "s0", Peer: c, What: write},
			{Actor: "s0", Peer: c, What: trace.Send{Conn: "#1", Content: says("OK")}},
			{Actor: c, What: trace.Mark{Step: trace.Release, Resource: "order"}},
		} {
			e.At = at
			m.Trace.Add(e)
		}
		m.Story = append(m.Story, line(int(from)+4, at, c, "is granted order"))
		m.History.Grants = append(m.History.Grants, checker.Grant{ID: i + 3, Client: c, Resource: "order", Invoked: from, Granted: from + 4, Released: from + 8})
		m.History.Holdings = append(m.History.Holdings, checker.Holding{Client: c, Resource: "order", From: from + 2, To: from + 8})
	}
	return m
}

// A run of 100,000 events as Markdown.
func BenchmarkMarkdownLarge(b *testing.B) {
	o := outcome(large(fence.None, 11_000), large(fence.Check, 11_000))
	for b.Loop() {
		if err := reports.Markdown(io.Discard, o, reports.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
