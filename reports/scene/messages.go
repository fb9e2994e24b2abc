package scene

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/internal/prose"
	"locksim/sim/trace"
)

// Message is a request or an answer, from its sending to its arrival.
type Message struct {
	Span
	From, To string
	Kind     MessageKind
	// Lost says that no arrival is in the trace.
	Lost bool
	// Late says that it was under way ten times as long as most messages of the run, and
	// for 50 ms at least.
	Late bool
	// Routine says that the same bytes were sent again and again.
	Routine bool
	// Fatal says that its arrival decided the run.
	Fatal bool
}

// MessageKind is the kind of a message.
type MessageKind string

// The kinds of messages.
const (
	Request MessageKind = "request"
	Answer  MessageKind = "answer"
)

// routineFrom is how often the same bytes must be sent to count as routine.
const routineFrom = 3

// Messages finds the messages of the run and their arrivals. The trace numbers the
// connections of a client to a server; on each, bytes keep their order.
func (s *Scene) Messages() []Message {
	p := &messageFinder{Scene: s, times: map[string]int{}, pending: map[string][]int{}, last: map[string]int{},
		routine: map[string]bool{}}
	events := s.Run.Trace.Events
	for _, e := range events {
		if m, ok := e.What.(trace.Send); ok {
			p.times[request(e, m)]++
		}
	}
	for _, e := range events {
		if !s.Hidden(e) {
			p.addEvent(e)
		}
	}
	for i := range p.out {
		m := &p.out[i]
		if f := p.follows[i]; m.Lost && m.Kind == Request && f >= 0 && p.out[f].Start == m.Start {
			// A request that is larger than the client's buffer is sent in pieces, at one
			// instant: it has arrived with the last of them.
			m.Until, m.End, m.Lost = p.out[f].Until, p.out[f].End, p.out[f].Lost
		}
		m.End = min(max(m.End, m.Start), max(s.End, m.Start))
	}
	lateness(p.out)
	return p.out
}

// lateness marks the late ones of the messages that arrived.
func lateness(all []Message) {
	var took []time.Duration
	for _, m := range all {
		if !m.Lost {
			took = append(took, m.End-m.Start)
		}
	}
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	limit := max(10*took[len(took)/2], 50*time.Millisecond)
	for i := range all {
		all[i].Late = !all[i].Lost && all[i].End-all[i].Start >= limit
	}
}

// Trouble is what went wrong with the message in words, "" for nothing.
func (m Message) Trouble() string {
	switch {
	case m.Lost:
		return fmt.Sprintf("%s of %s to %s, sent at %s: no arrival", m.Kind, m.From, m.To, prose.Seconds(m.Start))
	case m.Late:
		return fmt.Sprintf("%s of %s to %s, sent at %s: late by %s", m.Kind, m.From, m.To, prose.Seconds(m.Start),
			prose.Seconds(m.End-m.Start))
	}
	return ""
}

// messageFinder pairs the messages of a run with their arrivals.
type messageFinder struct {
	*Scene
	times   map[string]int   // how often a request was sent
	pending map[string][]int // the messages under way, by link and connection
	last    map[string]int   // the last message of a link and connection, counted from 1
	routine map[string]bool  // whether the last request of a connection was routine
	out     []Message
	sends   []trace.Send // the event of each of them
	follows []int        // the message before each on its link and connection, or -1
}

// request identifies a request by its client, its server and its bytes, on any
// connection.
func request(e trace.Event, m trace.Send) string {
	return e.Actor + ">" + e.Peer + " " + string(m.Content.AppendText(nil))
}

func (p *messageFinder) addEvent(e trace.Event) {
	switch m := e.What.(type) {
	case trace.Send:
		p.sent(e, m)
	case trace.Receive:
		p.arrived(e, connection(e.Peer, e.Actor, m.Conn))
	case trace.Exec:
		p.arrived(e, connection(e.Peer, e.Actor, m.Conn))
	case trace.Decision:
		p.arrived(e, connection(e.Peer, e.Actor, m.Conn))
	case trace.Reset:
		delete(p.pending, connection(m.Client, m.Server, m.Conn))
		delete(p.pending, connection(m.Server, m.Client, m.Conn))
	}
}

func connection(from, to, label string) string { return from + ">" + to + " " + label }

func (p *messageFinder) sent(e trace.Event, send trace.Send) {
	from, to := p.LaneKind(e.Actor), p.LaneKind(e.Peer)
	if from == "" || to == "" {
		return
	}
	opaque, isOpaque := send.Content.(trace.Silent)
	if from == LaneClient && isOpaque && opaque.Silent() {
		return
	}
	m := Message{From: e.Actor, To: e.Peer, Kind: Answer, Lost: true}
	m.Span = Span{Step: e.N, Start: e.At, End: e.At, Lane: e.Actor + ">" + e.Peer}
	if from == LaneClient {
		m.Kind = Request
		m.Routine = !isOpaque && p.times[request(e, send)] >= routineFrom
		p.routine[connection(e.Peer, e.Actor, send.Conn)] = m.Routine
	} else {
		m.Routine = p.routine[connection(e.Actor, e.Peer, send.Conn)]
		p.ponged(e, send)
	}
	link := connection(e.Actor, e.Peer, send.Conn)
	p.follows = append(p.follows, p.last[link]-1)
	p.last[link] = len(p.out) + 1
	p.pending[link] = append(p.pending[link], len(p.out))
	p.out, p.sends = append(p.out, m), append(p.sends, send)
}

// ponged ends a ping with the pong of its server, which proves that it arrived: a server
// may do it without an event of its own.
func (p *messageFinder) ponged(e trace.Event, answer trace.Send) {
	link := connection(e.Peer, e.Actor, answer.Conn)
	waiting := p.pending[link]
	isText := func(c trace.Content, text string) bool { return string(c.AppendText(nil)) == text }
	if len(waiting) == 0 || !isText(answer.Content, "pong") {
		return
	}
	i := slices.IndexFunc(waiting, func(m int) bool { return isText(p.sends[m].Content, "ping") })
	if i < 0 {
		return
	}
	m := &p.out[waiting[i]]
	m.Until, m.End, m.Lost = e.N, e.At, false
	p.pending[link] = waiting[i+1:]
}

// arrived finds the message whose arrival an event is: the oldest of its connection
// that may have carried the request of the event.
func (p *messageFinder) arrived(e trace.Event, link string) {
	waiting := p.pending[link]
	i := slices.IndexFunc(waiting, func(m int) bool { return mayCarry(p.sends[m].Content, e) })
	if i < 0 {
		return
	}
	m := &p.out[waiting[i]]
	m.Until, m.End, m.Lost, m.Fatal = e.N, e.At, false, e.N == p.Fatal
	if m.Fatal {
		m.Routine = false
	}
	p.pending[link] = waiting[i+1:]
}

// mayCarry reports whether a message may have carried the request of an event. One
// message may hold several requests, of which the first counts, and a request may come
// in several messages, of which the first counts: its first word must be the same, and
// for the store the operation too. A request without words may have come in any
// message.
func mayCarry(sent trace.Content, e trace.Event) bool {
	words := trace.WordsOf(sent)
	switch m := e.What.(type) {
	case trace.Exec:
		did := trace.WordsOf(m.Request)
		return len(did) == 0 || len(words) > 0 && strings.EqualFold(words[0], did[0])
	case trace.Decision:
		return len(words) > 3 && words[0] == m.Verb() && words[3] == m.Op
	}
	return true
}
