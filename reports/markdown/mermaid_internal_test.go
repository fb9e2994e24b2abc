package markdown

import (
	"regexp"
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

// once is a request that has no short form where its answer demands another request.
type once struct{ testreports.Words }

func (o once) Brief(answer trace.Content) string {
	if answer == trace.Text("ask otherwise") {
		return ""
	}
	return o.Short
}

// A request is shown by its short form, or by its text where its type has none. Long
// texts are cut.
func TestShortRequest(t *testing.T) {
	for _, tt := range []struct {
		request, answer trace.Content
		want            string
	}{
		{testreports.ContentWithShort("take the lock of c0", "take"), trace.Text("yes"), "take"},
		{testreports.ContentWithShort("take the lock of c0", "take"), nil, "take"},
		{testreports.ContentWithShort("hello", ""), trace.Text("yes"), ""},
		{once{testreports.ContentWithShort("take the lock of c0", "take")}, trace.Text("ask otherwise"), ""},
		{once{testreports.ContentWithShort("take the lock of c0", "take")}, trace.Text("yes"), "take"},
		{testreports.Content(strings.Repeat("x", 200)), nil, strings.Repeat("x", maxCommand) + "…"},
		{trace.Text("take the lock"), trace.Text("ask otherwise"), "take the lock"},
		{trace.Text(strings.Repeat("é", 100)), nil, strings.Repeat("é", maxCommand) + "…"},
	} {
		if got := shortRequest(tt.request, tt.answer); got != tt.want {
			t.Errorf("%v, answered %v: got %q, want %q", tt.request, tt.answer, got, tt.want)
		}
	}
}

func TestAnswered(t *testing.T) {
	for _, tt := range []struct {
		answer trace.Content
		want   string
	}{
		{trace.Text("OK"), "OK"},
		{trace.Bytes("OK\r\n"), "OK"},
		{trace.Text(strings.Repeat("x", 200)), strings.Repeat("x", maxAnswer) + "…"},
		{trace.Text(""), ""},
		{nil, "(waits)"},
	} {
		if got := answered(tt.answer); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.answer, got, tt.want)
		}
	}
}

func TestStoreAnswer(t *testing.T) {
	for _, tt := range []struct {
		decision trace.Decision
		want     string
	}{
		{trace.Decision{Write: true, Op: "c0.w2"}, "taken"},
		{trace.Decision{Op: "c0.r1"}, "nothing written yet"},
		{trace.Decision{Op: "c0.r1", Value: "c1.w2"}, "found c1.w2"},
		{trace.Decision{Write: true, Op: "c0.w2", Refused: "write with token 1 refused, token 2 was seen: stale operation"},
			"REFUSED: token 2 was seen"},
		{trace.Decision{Write: true, Op: "c0.w2", Refused: "out of paper"}, "REFUSED out of paper"},
	} {
		if got := storeAnswer(tt.decision); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.decision, got, tt.want)
		}
	}
}

const sms = time.Millisecond

// polling is a run in which c0 asks three times, is granted the lock, sends a write
// that never arrives, and does not receive the answer to its release.
func polling() *scene.Scene {
	m := &outcome.ModeRun{Mode: fence.None, Trace: &trace.Trace{Servers: testreports.Servers()}}
	set := func(id string) testreports.Words { return testreports.ContentWithShort("set k "+id+" nx", "set k nx") }
	for _, e := range []trace.Event{
		{At: 1 * sms, Actor: "c0", Peer: "r0", What: trace.Send{Conn: "#1", Content: set("aaaaaaaaaaaaaaaa")}},
		{At: 2 * sms, Actor: "r0", Peer: "c0", What: trace.Exec{Conn: "#1", Request: set("aaaaaaaaaaaaaaaa"),
			Answer: trace.Text("nil")}},
		{At: 3 * sms, Actor: "c0", Peer: "r0", What: trace.Send{Conn: "#1", Content: set("bbbbbbbbbbbbbbbb")}},
		{At: 4 * sms, Actor: "r0", Peer: "c0", What: trace.Exec{Conn: "#1", Request: set("bbbbbbbbbbbbbbbb"),
			Answer: trace.Text("nil")}},
		{At: 5 * sms, Actor: "c0", Peer: "r0", What: trace.Send{Conn: "#1", Content: set("cccccccccccccccc")}},
		{At: 6 * sms, Actor: "r0", Peer: "c0", What: trace.Exec{Conn: "#1", Request: set("cccccccccccccccc"),
			Answer: trace.Text("OK")}},
		{At: 7 * sms, Actor: "c0", What: trace.Mark{Step: trace.Granted, Resource: "order"}},
		{At: 8 * sms, Actor: "c0", Peer: "s0",
			What: trace.Send{Conn: "#2", Content: testreports.ContentWithShort("WRITE order balance c0.w2 0 c0.g1 -",
				"write c0.w2")}},
		{At: 900 * sms, Actor: "c0", Peer: "r0", What: testreports.Send("#1", "del k")},
		{At: 901 * sms, Actor: "r0", Peer: "c0", What: testreports.Exec("#1", "del k", "1")},
		{At: 901 * sms, Actor: "r0", Peer: "c0", What: testreports.Send("#1", "1")},
		{At: 2000 * sms, Actor: "world", Peer: "c0>r0,r0a", What: trace.Cut{Between: []string{"c0", "r0", "r0a"}}},
	} {
		m.Trace.Add(e)
	}
	m.Story = []outcome.Line{line(7, "c0", "is granted order"), line(12, "world", "c0>r0,r0a: CUT OFF")}
	m.History = checker.History{Grants: []checker.Grant{{ID: 1, Client: "c0", Resource: "order", Invoked: 1, Granted: 7,
		Released: 9}}}
	return scene.New(m)
}

// line is a step of a story without a remark.
func line(n int, actor, what string) outcome.Line {
	return outcome.Line{N: n, Actor: actor, What: what, Text: what}
}

func TestSeqRows(t *testing.T) {
	var got []string
	for _, r := range newSeqRows(polling()) {
		got = append(got, r.lines()...)
	}
	want := []string{
		"c0->>r0: 0.002s set k nx", "r0-->>c0: nil (2 times, until 0.004s)",
		"c0->>r0: 0.006s set k nx", "r0-->>c0: OK",
		"Note over c0: 0.007s is granted order",
		"c0-xs0: 0.008s write c0.w2 (it never arrives)",
		"c0->>r0: 0.901s del k", "r0--xc0: 1 (the answer is lost)",
		"Note over c0,r0a: 2.000s c0#62;r0,r0a#58; CUT OFF",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Names without a lane are not in the diagram.
func TestSeqRowsOfStrangers(t *testing.T) {
	s := polling()
	for i := range s.Run.Trace.Events {
		e := &s.Run.Trace.Events[i]
		e.Peer = "r0; end"
		if cut, ok := e.What.(trace.Cut); ok {
			cut.Between = []string{e.Peer}
			e.What = cut
		}
	}
	for _, r := range newSeqRows(scene.New(s.Run)) {
		for _, line := range r.lines() {
			if strings.Contains(line, ";") {
				t.Error(line)
			}
		}
	}
}

// In a diagram of any length, each bar that is opened is closed once.
func TestBarsAreBalanced(t *testing.T) {
	s := polling()
	for n := 1; n < 12; n++ {
		s.Fatal = n
		o := &outcome.Outcome{Scenario: &file.Scenario{}, Modes: []outcome.ModeRun{*s.Run}}
		for rows := 2; rows < 12; rows++ {
			m := &report{o: o, extent: extent{rows: rows}, scenes: []*scene.Scene{s}}
			m.draw()
			open := 0
			for _, line := range m.mermaid() {
				switch {
				case regexp.MustCompile(`^ +activate c0$`).MatchString(line):
					open++
				case regexp.MustCompile(`^ +deactivate c0$`).MatchString(line):
					open--
				}
				if open < 0 || open > 1 {
					t.Fatalf("%d bars are open, with %d rows around step %d", open, rows, n)
				}
			}
			if open != 0 {
				t.Errorf("%d bars stay open, with %d rows around step %d", open, rows, n)
			}
		}
	}
}

func TestWindow(t *testing.T) {
	rows := make([]seqRow, 100)
	for i := range rows {
		rows[i].n = i + 1
	}
	for _, tt := range []struct{ step, n, head, from, end int }{
		{0, 30, 30, 30, 30},   // nothing was decided: the beginning
		{3, 30, 6, 6, 10},     // near the beginning
		{50, 30, 6, 33, 57},   // in the middle: the opening, and the way to it
		{100, 30, 6, 76, 100}, // at the end
		{50, 200, 6, 6, 62},   // there is room for all of the way
		{50, 2, 0, 48, 50},    // there is hardly any
	} {
		head, from, end := chooseRows(rows, tt.step, tt.n)
		if head != tt.head || from != tt.from || end != tt.end {
			t.Errorf("step %d of 100 in %d rows: got %d, %d, %d", tt.step, tt.n, head, from, end)
		}
	}
}
