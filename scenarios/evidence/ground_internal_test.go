package evidence

import (
	"testing"

	"locksim/checker"
	"locksim/sim/trace"
)

// order is a request, of the kind that it names.
type order struct {
	trace.Text
	kind string
}

func (o order) Kind() string { return o.kind }

// What a client asks after it has got the lock is asked again only where it is of the kind of what took it. In
// ZooKeeper seed 14 of TestLock, in zklocks, a client looked at its own node, and that was taken for another request
// for the lock.
func TestAskedAgain(t *testing.T) {
	type execs = []trace.Exec
	done := trace.Text("OK")
	set, got := trace.Exec{Request: order{"set a", "set"}, Answer: done}, trace.Exec{Request: order{"get", "get"},
		Answer: done}
	waits, other := trace.Exec{Request: set.Request}, trace.Exec{Request: order{"set b", "set"}, Answer: done}
	elsewhere, unkind := trace.Exec{Conn: "#2", Request: set.Request, Answer: done},
		trace.Exec{Request: done, Answer: done}
	for name, c := range map[string]struct {
		execs    execs  // from step 1
		peer     string // of the last, if it is not c0
		to, want checker.Pos
	}{
		"again":                     {execs: execs{set, set}, to: 9, want: 2},
		"with another value":        {execs: execs{set, other}, to: 9, want: 2},
		"after another request":     {execs: execs{set, got, set}, to: 9, want: 3},
		"another request":           {execs: execs{set, got}, to: 9},
		"its answer":                {execs: execs{waits, set}, to: 9},
		"after its answer":          {execs: execs{waits, set, set}, to: 9, want: 3},
		"beside it, elsewhere":      {execs: execs{waits, elsewhere}, to: 9, want: 2},
		"after the end":             {execs: execs{set, set}, to: 2},
		"to the end":                {execs: execs{set, set}, want: 2},
		"of another client":         {execs: execs{set, set}, peer: "c1", to: 9},
		"of a kind that is unknown": {execs: execs{unkind, unkind}, to: 9},
	} {
		t.Run(name, func(t *testing.T) {
			made := &trace.Trace{}
			for i, x := range c.execs {
				made.Events = append(made.Events, trace.Event{N: i + 1, Actor: "r0", Peer: "c0", What: x})
			}
			if c.peer != "" {
				made.Events[len(made.Events)-1].Peer = c.peer
			}
			r := reading{Record: &Record{Over: len(made.Events), Timeline: TimelineOf(made, nil)}}
			holdings := []checker.Holding{{Client: "c0", From: 1, To: c.to}}
			r.askedAgain(holdings)
			if got := holdings[0].Again; got != c.want {
				t.Errorf("asked again at step %d, want %d", got, c.want)
			}
		})
	}
}
