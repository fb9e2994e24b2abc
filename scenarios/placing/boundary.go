package placing

import (
	"regexp"
	"slices"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// boundary is a moment of a run at which a fault can find the world in another
// state than before: a client's message is sent or arrives, a client passes a
// point, or a server does something. A fault is placed just before it.
type boundary struct {
	at      time.Duration
	what    boundaryKind
	client  string        // the client of the message or of the point
	node    string        // the other end of the message: a server, or the store
	event   *faults.Event // the point, if a schedule can name it
	strike  time.Duration // the last instant before it
	servers trace.Servers // of the world
}

// server is what the node is.
func (b boundary) server() trace.Server {
	is, _ := b.servers.Find(b.node)
	return is
}

// boundaryKind is what happens at a boundary.
type boundaryKind int

const (
	// sending is a client that sends a message or that gets a connection.
	sending boundaryKind = iota
	// answering is a node that has received a message, acts on it, and answers
	// in the same instant.
	answering
	// receiving is a client that receives an answer.
	receiving
	// pointing is a client that passes a named point or an event of the driver.
	pointing
	// expiring is a key that expires.
	expiring
	// applying is a server that applies what another server has decided or written, or that answers one, or may do so.
	applying
)

// boundaries finds the boundaries of a run, in order. It stops at the probe, which
// runs after the workload and which no fault strikes.
func boundaries(t *trace.Trace) []boundary {
	b := &boundaryFinder{servers: t.Servers, passed: map[clientEvent]int{}}
	for _, e := range t.Events {
		if e.Actor == trace.Probe {
			break
		}
		b.event(e)
	}
	return b.withUnseen()
}

// withUnseen adds the boundaries of servers of which the trace has nothing, although other servers may ask them or tell
// them something: a webhook, a follower that no client is connected to. The state of such a server may change whenever
// another one acts. One that only clients ask is not changed when they do not.
func (b *boundaryFinder) withUnseen() []boundary {
	acts := func(x boundary) bool {
		return slices.Contains(serverActs, x.what) && x.server().Role != trace.RoleStore
	}
	var unseen []string
	for _, s := range b.servers {
		alone := s.Role == "" || s.Role == trace.RoleSingle || s.Role == trace.RoleStore
		if !alone && !slices.ContainsFunc(b.found, func(x boundary) bool { return acts(x) && x.node == s.Name }) {
			unseen = append(unseen, s.Name)
		}
	}
	if len(unseen) == 0 {
		return b.found
	}
	var out []boundary
	var last time.Duration
	for _, x := range b.found {
		out = append(out, x)
		if !acts(x) || x.at == last {
			continue
		}
		last = x.at
		for _, name := range unseen {
			out = append(out, boundary{at: x.at, what: applying, node: name, strike: x.strike, servers: b.servers})
		}
	}
	return out
}

// clientEvent is an event of a client, whose occurrences are counted.
type clientEvent struct{ client, event string }

type boundaryFinder struct {
	servers      trace.Servers
	found        []boundary
	now, earlier time.Duration // the instant of the last event, and the one before
	passed       map[clientEvent]int
}

func (b *boundaryFinder) event(e trace.Event) {
	if e.At > b.now {
		b.earlier, b.now = b.now, e.At
	}
	next, ok := b.read(e)
	next.at, next.strike, next.servers = e.At, b.strike(), b.servers
	if ok && !slices.ContainsFunc(b.sameInstant(), next.same) {
		b.found = append(b.found, next)
	}
}

// read is the boundary of an event of a client or server, if it is one.
func (b *boundaryFinder) read(e trace.Event) (boundary, bool) {
	if !trace.IsClient(e.Actor) {
		return b.readServer(e)
	}
	switch m := e.What.(type) {
	case trace.Send, trace.Connect, trace.Close:
		return boundary{what: sending, client: e.Actor, node: e.Peer}, true
	case trace.Receive, trace.EOF, trace.Refused:
		return boundary{what: receiving, client: e.Actor, node: e.Peer}, true
	case trace.Mark:
		return boundary{what: pointing, client: e.Actor, event: b.point(e.Actor, m)}, true
	}
	return boundary{}, false
}

// readServer is the boundary of an event of a server, if it is one.
func (b *boundaryFinder) readServer(e trace.Event) (boundary, bool) {
	switch e.What.(type) {
	case trace.Exec, trace.Decision, trace.Send, trace.Close:
		if trace.IsClient(e.Peer) && !b.servers.Has(e.Actor, trace.RoleBehind) {
			return boundary{what: answering, client: e.Peer, node: e.Actor}, true
		}
		return boundary{what: applying, node: e.Actor}, e.Peer != trace.Probe
	case trace.Apply:
		return boundary{what: applying, node: e.Actor}, true
	case trace.Expire:
		return boundary{what: expiring, node: e.Actor}, true
	}
	return boundary{}, false
}

var pointLabel = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// point counts a point as a schedule does. It is nil if no schedule can name it.
func (b *boundaryFinder) point(client string, m trace.Mark) *faults.Event {
	at := clientEvent{client, m.Name()}
	b.passed[at]++
	if !pointLabel.MatchString(at.event) {
		return nil
	}
	return &faults.Event{Client: client, Name: at.event, Nth: b.passed[at]}
}

// strike is when a fault has to strike to come before the present instant. The
// world's own events come first in their instant, and delay other events of the
// same instant. A timer of the code under test would come before them, so the
// previous instant is better, if nothing else happens then.
func (b *boundaryFinder) strike() time.Duration {
	if b.now-b.earlier > 1 {
		return b.now - 1
	}
	return b.now
}

// sameInstant are the boundaries found so far at the present instant.
func (b *boundaryFinder) sameInstant() []boundary {
	for i := len(b.found); i > 0; i-- {
		if b.found[i-1].at != b.now {
			return b.found[i:]
		}
	}
	return b.found
}

// same reports whether two boundaries of one instant are one.
func (b boundary) same(other boundary) bool {
	if b.what == pointing && other.what == pointing && b.event != nil && other.event != nil {
		return *b.event == *other.event
	}
	return b.what == other.what && b.client == other.client && b.node == other.node
}
