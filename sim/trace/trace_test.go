package trace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locksim/sim/trace"
)

// what is a What for tests: its hidden part is not in its text.
type what struct{ kind, text, hidden string }

func (w what) Kind() string                       { return w.kind }
func (w what) AppendText(b []byte) []byte         { return append(b, w.text...) }
func (w what) Fields(f trace.Fields) trace.Fields { return f.Texts("text", w.text, "hidden", w.hidden) }
func (what) Words(trace.View) trace.Words         { return trace.Words{Untold: "it is a test"} }

func sample() *trace.Trace {
	t := new(trace.Trace)
	t.Add(trace.Event{At: time.Millisecond, Actor: "c0", Peer: "r0", What: what{kind: "send", text: "SET k v"}})
	t.Add(trace.Event{At: 2 * time.Millisecond, Actor: "r0", What: what{kind: "exec", text: "OK \"\\\n\x01 é \xff"}})
	return t
}

func ExampleDiff() {
	a, b := sample(), sample()
	b.Events[1].What = what{kind: "exec", text: "nil"}
	fmt.Println(trace.Diff(a, b))
	fmt.Println(trace.Diff(a, sample()) == nil)
	// Output:
	// first divergent event: number 2
	//   one run:     at 2ms, r0: exec OK "\ \x01 é \xff
	//   other run:   at 2ms, r0: exec nil
	//   both before: at 1ms, c0, r0: send SET k v
	// true
}

// Every field counts: a change of any of them changes the hash and is found by Diff.
func TestEveryFieldCounts(t *testing.T) {
	change := map[string]func(*trace.Event){
		"at":      func(e *trace.Event) { e.At++ },
		"within":  func(e *trace.Event) { e.Within++ },
		"actor":   func(e *trace.Event) { e.Actor = "c1" },
		"kind":    func(e *trace.Event) { e.What = what{kind: "recv", text: "SET k v"} },
		"peer":    func(e *trace.Event) { e.Peer = "r1" },
		"text":    func(e *trace.Event) { e.What = what{kind: "send", text: "SET k v "} },
		"details": func(e *trace.Event) { e.What = what{kind: "send", text: "SET k v", hidden: "x"} },
	}
	for field, f := range change {
		a, b := sample(), sample()
		f(&b.Events[0])
		if a.Hash() == b.Hash() {
			t.Errorf("%s: the hash did not change", field)
		}
		if d := trace.Diff(a, b); d == nil || d.N != 1 {
			t.Errorf("%s: got %v, want a divergence at event 1", field, d)
		}
	}
}

// If two different events have equal texts, the message says so.
func TestDiffOfDetails(t *testing.T) {
	a, b := sample(), sample()
	b.Events[1].What = what{kind: "exec", text: a.Events[1].Text(), hidden: "x"}
	d := trace.Diff(a, b)
	if d == nil || d.N != 2 || !strings.Contains(d.String(), "the two differ in details that their texts do not show") {
		t.Errorf("got %v", d)
	}
	if d := trace.Diff(a, sample()); d != nil {
		t.Errorf("equal traces: %v", d)
	}
}

// A divergence shows bytes so that a reader can tell them apart: text as text, others quoted, and where a text is cut,
// the details around the first difference.
func TestDiffShowsBytes(t *testing.T) {
	long := strings.Repeat("x", 400)
	for name, tc := range map[string]struct {
		a, b trace.Content
		want []string
	}{
		"text": {trace.Text("SET k one"), trace.Text("SET k two"),
			[]string{"send #1 SET k one\n", "send #1 SET k two\n"}},
		"bytes": {trace.Bytes("\x00\x00\x02hi"), trace.Bytes("\x00\x00\x02ho"),
			[]string{`send #1 "\x00\x00\x02hi"`, `send #1 "\x00\x00\x02ho"`}},
		"not UTF-8": {trace.Bytes("a\xfe"), trace.Bytes("a\xff"), []string{`send #1 "a\xfe"`, `send #1 "a\xff"`}},
		"a control": {trace.Text("a\x1b[0m"), trace.Text("a\x1b[1m"),
			[]string{`send #1 "a\x1b[0m"`, `send #1 "a\x1b[1m"`}},
		"readable bytes": {trace.Bytes("GET a\r\n"), trace.Bytes("GET b\r\n"),
			[]string{"send #1 GET a\n", "send #1 GET b\n"}},
		"behind the cut": {trace.Text(long + "one"), trace.Text(long + "two"),
			[]string{"details that their texts do not show", `xxxone" in one`, `xxxtwo" in the other`}},
		"only white space": {trace.Text("a\nb"), trace.Text("a\tb"), []string{`a\nb" in one`, `a\tb" in the other`}},
	} {
		traces := [2]trace.Trace{}
		for i, c := range []trace.Content{tc.a, tc.b} {
			traces[i].Add(trace.Event{Actor: "c0", Peer: "r0", What: trace.Send{Conn: "#1", Content: c}})
		}
		text := trace.Diff(&traces[0], &traces[1]).String()
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
	}
}

// A trace that is a prefix of another differs from it at its end.
func TestDiffShorter(t *testing.T) {
	a, b := sample(), sample()
	b.Events = b.Events[:1]
	d := trace.Diff(a, b)
	if d == nil || d.N != 2 || d.A == nil || d.B != nil {
		t.Fatalf("got %+v", d)
	}
	if !strings.Contains(d.String(), "the trace ends here") {
		t.Errorf("message does not say that a trace ended: %s", d)
	}
}

func ExampleTrace_WriteJSON() {
	t := new(trace.Trace)
	t.Add(trace.Event{At: time.Second, Actor: trace.World, Peer: "c0", What: trace.Slow{By: time.Millisecond}})
	t.Add(trace.Event{At: 2 * time.Second, Actor: trace.World, Peer: "c0", What: trace.SlowEnd{}})
	t.Add(trace.Event{At: 3 * time.Second, Actor: "r0", Peer: "c0", What: trace.Exec{
		Conn: "#1", Request: trace.Text("GET k"), Answer: trace.Text("nil")}})
	if err := t.WriteJSON(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"n":1,"at":1000000000,"actor":"world","kind":"slow","peer":"c0","text":"timers late by 1ms, until healed","fields":{"by":1000000}}
	// {"n":2,"at":2000000000,"actor":"world","kind":"slow-end","peer":"c0"}
	// {"n":3,"at":3000000000,"actor":"r0","kind":"exec","peer":"c0","text":"GET k -> nil","fields":{"conn":"#1","request":"GET k","answer":"nil"}}
}

// The lines of every event are JSON that any parser reads back: names and values.
func TestFieldsAreJSON(t *testing.T) {
	for _, tt := range told {
		one := trace.Trace{Events: []trace.Event{{What: tt.what}}}
		var e struct{ Fields map[string]any }
		if err := json.Unmarshal(one.JSON(), &e); err != nil {
			t.Errorf("%T%+v: %v in %s", tt.what, tt.what, err, one.JSON())
		}
	}
	cut := trace.Trace{Events: []trace.Event{{What: trace.Cut{Between: []string{"c0"}, And: []string{"r0", "r1"},
		Bytes: "held"}}}}
	const want = `"fields":{"between":["c0"],"and":["r0","r1"],"bytes":"held"}}`
	if got := string(cut.JSON()); !strings.Contains(got, want) {
		t.Errorf("%s lacks %s", got, want)
	}
}

// The canonical lines are JSON that any parser reads back.
func TestCanonicalIsJSON(t *testing.T) {
	for line := range strings.Lines(string(sample().JSON())) {
		var e struct {
			N     int
			At    int64
			Actor string
			Kind  string
			Text  string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Kind == "exec" && e.Text != "OK \"\\\n\x01 é \uFFFD" {
			t.Errorf("text came back as %q", e.Text)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	t := new(trace.Trace)
	for range 1000 {
		t.Add(trace.Event{At: 12345678901, Actor: "c0", Peer: "r0", What: trace.Send{
			Conn: "#1", Content: trace.Text("EVALSHA 0123456789abcdef 2 lock:{order} lock:{order}:token 0123456789abcdef 10000"),
		}})
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = t.Hash()
	}
}
