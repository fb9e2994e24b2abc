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
		if e.Kind == "send" {
			p.times[request(e)]++
		}
	}
	for i, e := range events {
		if d.hidden(e) {
			continue
		}
		p.see(e, next(events, i))
	}
	for i := range p.out {
		p.place(&p.out[i])
	}
	return p.out
}

func next(events []trace.Event, i int) trace.Event {
	if i+1 < len(events) {
		return events[i+1]
	}
	return trace.Event{}
}

// post follows the messages of a run.
type post struct {
	*drawing
	times   map[string]int   // how often a request was sent
	pending map[string][]int // what is under way, by link and connection
	routine map[string]bool  // whether the last request of a connection was routine
	out     []message
	texts   []string
}

// request is what was asked of whom, whatever the connection.
func request(e trace.Event) string {
	_, text := cutLabel(e.Text)
	return e.Actor + ">" + e.Peer + " " + text
}

// cutLabel parts "#1 PING" into the connection and the rest.
func cutLabel(text string) (label, rest string) {
	if !strings.HasPrefix(text, "#") {
		return "", text
	}
	label, rest, _ = strings.Cut(text, " ")
	return label, rest
}

// see takes notice of one event; next is the one behind it.
func (p *post) see(e, next trace.Event) {
	switch e.Kind {
	case "send":
		p.sent(e)
	case "recv":
		label, _ := cutLabel(e.Text)
		p.arrived(e, connection(e.Peer, e.Actor, label), "")
	case "exec", "store":
		// A node answers at once, on the connection that the command came by.
		label := ""
		if next.Kind == "send" && next.Actor == e.Actor && next.Peer == e.Peer {
			label, _ = cutLabel(next.Text)
		}
		p.arrived(e, connection(e.Peer, e.Actor, label), e.Text)
	case "reset":
		p.dropped(e)
	}
}

// connection names one direction of a connection; without a label, that of all.
func connection(from, to, label string) string { return from + ">" + to + " " + label }

func (p *post) sent(e trace.Event) {
	from, to := p.lanes[e.Actor], p.lanes[e.Peer]
	if from == nil || to == nil {
		return
	}
	label, text := cutLabel(e.Text)
	m := message{From: e.Actor, To: e.Peer, Kind: "answer", Lost: true}
	m.stretch = stretch{N: e.N, T0: e.At, T1: e.At, Lane: e.Actor + ">" + e.Peer}
	if from.Kind == laneClient {
		m.Kind = "request"
		m.Routine = p.times[request(e)] >= routineFrom
		p.routine[connection(e.Peer, e.Actor, label)] = m.Routine
	} else {
		m.Routine = p.routine[connection(e.Actor, e.Peer, label)]
	}
	link := connection(e.Actor, e.Peer, label)
	p.pending[link] = append(p.pending[link], len(p.out))
	p.out, p.texts = append(p.out, m), append(p.texts, text)
}

// arrived finds the message that an event is the arrival of: the oldest of its
// connection, and for a command one that begins with the same word.
func (p *post) arrived(e trace.Event, link, command string) {
	for _, key := range p.links(link) {
		waiting := p.pending[key]
		i := slices.IndexFunc(waiting, func(m int) bool { return command == "" || sameCommand(p.texts[m], command) })
		if i < 0 {
			continue
		}
		m := &p.out[waiting[i]]
		m.M, m.T1, m.Lost, m.Fatal = e.N, e.At, false, e.N == p.fatal
		if m.Fatal {
			m.Routine = false
		}
		p.pending[key] = waiting[i+1:]
		return
	}
}

// links are the connections that a message may have come by: one, if its label
// is known, otherwise all of the link in order.
func (p *post) links(link string) []string {
	if !strings.HasSuffix(link, " ") {
		return []string{link}
	}
	var out []string
	for key := range p.pending {
		if strings.HasPrefix(key, link) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// sameCommand compares a message with the command that a node did. Long ones
// are cut, and scripts are named, in the trace: the first word has to do, and the
// id of an operation on the store, which stands where no other command has it.
func sameCommand(sent, done string) bool {
	a, b := strings.Fields(sent), strings.Fields(done)
	if len(a) == 0 || len(b) == 0 || !strings.EqualFold(a[0], b[0]) {
		return false
	}
	if a[0] != "READ" && a[0] != "WRITE" {
		return true
	}
	return len(a) > 3 && len(b) > 3 && a[3] == b[3]
}

// dropped forgets what was under way on a connection that was reset.
func (p *post) dropped(e trace.Event) {
	ends := hit(e)
	if len(ends) != 2 {
		return
	}
	label, _ := cutLabel(e.Text)
	delete(p.pending, connection(ends[0], ends[1], label))
	delete(p.pending, connection(ends[1], ends[0], label))
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
