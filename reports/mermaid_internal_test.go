package reports

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/sim/trace"
)

func TestCommandOf(t *testing.T) {
	for text, want := range map[string][2]string{
		"set lock:{order} f8e4aab3b4c466eba34decbf268c273a ex 10 nx -> OK":                  {"set lock:{order} ex 10 nx", "OK"},
		"evalsha [lock grant, fenced: take the lock (apart: F06).] 2 a b 10000 -> 1":        {"lock grant, fenced", "1"},
		"eval [broken: delete the key if it is the owner's] 1 lock:{order} -> 0":            {"delete the key if it is the owner's", "0"},
		"get lock:{order} -> " + strings.Repeat("x", 200):                                   {"get lock:{order}", strings.Repeat("x", maxAnswer) + "…"},
		"evalsha cf0a9463 2 lock:{order} -> -NOSCRIPT No matching script. Please use EVAL.": {},
		"HELLO 3 -> server miniredis":                                                       {},
		"client setinfo LIB-NAME go-redis -> -ERR unknown subcommand":                       {},
	} {
		command, answer, ok := commandOf(text)
		if command != want[0] || answer != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: got %q, %q, %v", text, command, answer, ok)
		}
	}
}

func TestStoreAnswer(t *testing.T) {
	for _, tt := range []struct{ command, answer, want string }{
		{"write c0.w2", "OK", "taken"},
		{"read c0.r1", "OK", "nothing written yet"},
		{"read c0.r1", "OK c1.w2", "found c1.w2"},
		{"write c0.w2", "REFUSED write with token 1 refused, token 2 was seen: stale operation", "REFUSED: token 2 was seen"},
		{"write c0.w2", "REFUSED out of paper", "REFUSED out of paper"},
	} {
		if got := storeAnswer(tt.command, tt.answer); got != tt.want {
			t.Errorf("%s, %s: got %q, want %q", tt.command, tt.answer, got, tt.want)
		}
	}
}

const sms = time.Millisecond

// polling is a run in which c0 asks three times, gets the lock, loses the answer
// to its release, and sends a write that never arrives.
func polling() *scene {
	m := &scenarios.ModeRun{Mode: fence.None, Trace: &trace.Trace{}}
	for _, e := range []trace.Event{
		{At: 1 * sms, Actor: "c0", Kind: "send", Peer: "r0", Text: "#1 set k aaaaaaaaaaaaaaaa nx"},
		{At: 2 * sms, Actor: "r0", Kind: "exec", Peer: "c0", Text: "set k aaaaaaaaaaaaaaaa nx -> nil"},
		{At: 3 * sms, Actor: "c0", Kind: "send", Peer: "r0", Text: "#1 set k bbbbbbbbbbbbbbbb nx"},
		{At: 4 * sms, Actor: "r0", Kind: "exec", Peer: "c0", Text: "set k bbbbbbbbbbbbbbbb nx -> nil"},
		{At: 5 * sms, Actor: "c0", Kind: "send", Peer: "r0", Text: "#1 set k cccccccccccccccc nx"},
		{At: 6 * sms, Actor: "r0", Kind: "exec", Peer: "c0", Text: "set k cccccccccccccccc nx -> OK"},
		{At: 7 * sms, Actor: "c0", Kind: "granted", Text: "order"},
		{At: 8 * sms, Actor: "c0", Kind: "send", Peer: "s0", Text: "#2 WRITE order balance c0.w2 0 c0.g1 -"},
		{At: 900 * sms, Actor: "c0", Kind: "send", Peer: "r0", Text: "#1 del k"},
		{At: 901 * sms, Actor: "r0", Kind: "exec", Peer: "c0", Text: "del k -> 1"},
		{At: 901 * sms, Actor: "r0", Kind: "send", Peer: "c0", Text: "#1 1"},
		{At: 2000 * sms, Actor: "world", Kind: "cut", Peer: "c0>r0,r0a"},
	} {
		m.Trace.Add(e)
	}
	m.Story = []scenarios.Line{{N: 7, Actor: "c0", Text: "is granted order"}, {N: 12, Actor: "world", Text: "c0>r0,r0a: CUT OFF"}}
	m.History = checker.History{Grants: []checker.Grant{{ID: 1, Client: "c0", Resource: "order", Invoked: 1, Granted: 7, Released: 9}}}
	return newScene(m)
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

// Names that are no lane's come into no diagram.
func TestSeqRowsOfStrangers(t *testing.T) {
	s := polling()
	for i := range s.run.Trace.Events {
		s.run.Trace.Events[i].Peer = "r0; end"
	}
	for _, r := range newSeqRows(newScene(s.run)) {
		for _, line := range r.lines() {
			if strings.Contains(line, ";") {
				t.Error(line)
			}
		}
	}
}

// However a diagram is cut, each bar that is opened is closed, once.
func TestBarsAreBalanced(t *testing.T) {
	s := polling()
	for n := 1; n < 12; n++ {
		s.fatal = n
		o := &scenarios.Outcome{Scenario: &scenarios.Scenario{}, Modes: []scenarios.ModeRun{*s.run}}
		for rows := 2; rows < 12; rows++ {
			m := &markdown{o: o, extent: extent{rows: rows}, scenes: []*scene{s}}
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
		head, from, end := window(rows, tt.step, tt.n)
		if head != tt.head || from != tt.from || end != tt.end {
			t.Errorf("step %d of 100 in %d rows: got %d, %d, %d", tt.step, tt.n, head, from, end)
		}
	}
}
