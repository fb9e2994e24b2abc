package testreports

import (
	"strings"
	"time"

	"locksim/sim/trace"
)

// Words is a content as a kind of servers may define it: it implements [trace.Worded]
// and [trace.Request], and has a short form.
type Words struct {
	trace.Text
	Short string
}

// ContentWithShort is a content with a short form.
func ContentWithShort(text, short string) Words { return Words{trace.Text(text), short} }

// Content is a content whose short form is its whole text.
func Content(text string) Words { return ContentWithShort(text, text) }

// Words implements [trace.Worded].
func (w Words) Words() []string { return strings.Fields(string(w.Text)) }

// Brief implements [trace.Request].
func (w Words) Brief(trace.Content) string { return w.Short }

// At is an event at a time in milliseconds after the start of its run.
func At(ms int, actor, peer string, what trace.What) trace.Event {
	return trace.Event{At: time.Duration(ms) * time.Millisecond, Actor: actor, Peer: peer, What: what}
}

// Mark is a step of a client without further data.
func Mark(s trace.Step) trace.Mark { return trace.Mark{Step: s, Resource: "order"} }

// Send is a message on a connection.
func Send(conn, text string) trace.Send { return trace.Send{Conn: conn, Content: Content(text)} }

// Exec is a request that a server executed, with its answer.
func Exec(conn, request, answer string) trace.Exec {
	return trace.Exec{Conn: conn, Request: Content(request), Answer: trace.Text(answer)}
}
