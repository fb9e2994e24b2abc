package reports

import (
	"slices"
	"strings"

	"locksim/sim/trace"
)

// message is a request or an answer, from its sending to its arrival.
type message struct {
	stretch
	From, To string
	Y1, Y2   int
	X2       string
	// Kind is "request" or "answer".
	Kind string
	// Lost says that no arrival is in the trace.
	Lost bool
	// Routine says that the same bytes were sent again and again.
	Routine bool
	// Fatal says that its arrival decided the run.
	Fatal bool
}

// routineFrom is how often the same bytes must be sent to count as routine.
const routineFrom = 3

// messages finds what was sent, and where it arrived. The trace numbers the
// connections of a client to a node; on each, bytes keep their order.
func (d *drawing) messages() []message {
	p := &post{drawing: d, times: map[string]int{}, pending: map[string][]int{}, routine: map[string]bool{}}
	events := d.run.Trace.Events
	for _, e := range events {
		if m, ok := e.What.(trace.Send); ok {
			p.times[request(e, m)]++
		}
	}
	for _, e := range events {
		if !d.hidden(e) {
			p.see(e)
		}
	}
	for i := range p.out {
		p.place(&p.out[i])
	}
	return p.out
}

// post follows the messages of a run.
type post struct {
	*drawing
	times   map[string]int   // how often a request was sent
	pending map[string][]int // what is under way, by link and connection
	routine map[string]bool  // whether the last request of a connection was routine
	out     []message
	sends   []trace.Send // what each of them is
}

// request is what was asked of whom, whatever the connection.
func request(e trace.Event, m trace.Send) string {
	return e.Actor + ">" + e.Peer + " " + string(m.Content.AppendText(nil))
}

// see takes notice of one event.
func (p *post) see(e trace.Event) {
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

// connection names one direction of a connection.
func connection(from, to, label string) string { return from + ">" + to + " " + label }

func (p *post) sent(e trace.Event, send trace.Send) {
	from, to := p.lanes[e.Actor], p.lanes[e.Peer]
	if from == nil || to == nil {
		return
	}
	m := message{From: e.Actor, To: e.Peer, Kind: "answer", Lost: true}
	m.stretch = stretch{N: e.N, T0: e.At, T1: e.At, Lane: e.Actor + ">" + e.Peer}
	if from.Kind == laneClient {
		m.Kind = "request"
		m.Routine = p.times[request(e, send)] >= routineFrom
		p.routine[connection(e.Peer, e.Actor, send.Conn)] = m.Routine
	} else {
		m.Routine = p.routine[connection(e.Actor, e.Peer, send.Conn)]
	}
	link := connection(e.Actor, e.Peer, send.Conn)
	p.pending[link] = append(p.pending[link], len(p.out))
	p.out, p.sends = append(p.out, m), append(p.sends, send)
}

// arrived finds the message that an event is the arrival of: the oldest of its
// connection that may have brought what happened.
func (p *post) arrived(e trace.Event, link string) {
	waiting := p.pending[link]
	i := slices.IndexFunc(waiting, func(m int) bool { return brought(p.sends[m].Content, e) })
	if i < 0 {
		return
	}
	m := &p.out[waiting[i]]
	m.M, m.T1, m.Lost, m.Fatal = e.N, e.At, false, e.N == p.fatal
	if m.Fatal {
		m.Routine = false
	}
	p.pending[link] = waiting[i+1:]
}

// brought reports whether a message may be the one by which something has
// happened. One message may hold several requests, of which the first counts, and a
// request may come in several messages, of which the first counts: its first word must
// be the same, and for the store the operation too. What happened without words may
// have come by any message.
func brought(sent trace.Content, e trace.Event) bool {
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

// lostStub is how far the line of a message reaches that never arrived.
const lostStub = 12

func (p *post) place(m *message) {
	m.T1 = min(max(m.T1, m.T0), max(p.end, m.T0))
	m.stretch = p.scale.place(m.stretch)
	from, to := p.lanes[m.From], p.lanes[m.To]
	m.X2, m.Y1, m.Y2 = p.scale.At(m.T1), from.port(), to.port()
	if m.Lost {
		m.Y2 = m.Y1 + lostStub
		if to.Y < from.Y {
			m.Y2 = m.Y1 - lostStub
		}
	}
}
