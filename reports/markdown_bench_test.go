package reports_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios"
	"locksim/sim/trace"
)

// large is a run of n rounds of two clients, of about ten events each.
func large(mode fence.Mode, n int) scenarios.ModeRun {
	m := paused(mode)
	m.History.Final, m.History.Ops = map[checker.Cell]string{}, nil
	for i := range n {
		at, c := 21*time.Second+time.Duration(i)*time.Second, fmt.Sprintf("c%d", i%2)
		from := checker.Pos(m.Trace.Len() + 1)
		for _, e := range []trace.Event{
			{Actor: c, Kind: "acquire", Text: "order"},
			{Actor: c, Kind: "send", Peer: "r0", Text: "#1 SET lock:order id NX PX 5000"},
			{Actor: "r0", Kind: "exec", Peer: c, Text: "SET lock:order id NX PX 5000 -> OK"},
			{Actor: "r0", Kind: "send", Peer: c, Text: "#1 OK"},
			{Actor: c, Kind: "granted", Text: fmt.Sprintf("order token=%d", i+3)},
			{Actor: c, Kind: "send", Peer: "s0", Text: fmt.Sprintf("#1 WRITE order balance %s.w%d %d %s.g1 -", c, i+3, i+3, c)},
			{Actor: "s0", Kind: "store", Peer: c, Text: fmt.Sprintf("WRITE order balance %s.w%d %d %s.g1 - -> OK", c, i+3, i+3, c)},
			{Actor: "s0", Kind: "send", Peer: c, Text: "#1 OK"},
			{Actor: c, Kind: "release", Text: "order"},
		} {
			e.At = at
			m.Trace.Add(e)
		}
		m.Story = append(m.Story, scenarios.Line{N: int(from) + 4, At: at, Actor: c, Text: "is granted order"})
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
