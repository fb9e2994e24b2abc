package testreports

import (
	"strings"
	"time"

	"locksim/sim/trace"
)

// Words is a content as a kind of servers may make it: it knows its words, and has a
// short form.
type Words struct {
	trace.Text
	Short string
}

// Worded is a content of words with a short form.
func ContentWithShort(text, short string) Words { return Words{trace.Text(text), short} }

// Says is a content of words that is short as it is.
func Content(text string) Words { return ContentWithShort(text, text) }

// Words implements [trace.Worded].
func (w Words) Words() []string { return strings.Fields(string(w.Text)) }

// Brief implements [trace.Request].
func (w Words) Brief(trace.Content) string { return w.Short }

// At is an event, so many milliseconds after the start of its run.
func At(ms int, actor, peer string, what trace.What) trace.Event {
	return trace.Event{At: time.Duration(ms) * time.Millisecond, Actor: actor, Peer: peer, What: what}
}

// Step is a step of a client that says no more than that it happened.
func Mark(s trace.Step) trace.Mark { return trace.Mark{Step: s, Resource: "order"} }

// Sends is a message by a connection.
func Send(conn, text string) trace.Send { return trace.Send{Conn: conn, Content: Content(text)} }

// Does is a request that a server did, with its answer.
func Exec(conn, request, answer string) trace.Exec {
	return trace.Exec{Conn: conn, Request: Content(request), Answer: trace.Text(answer)}
}
