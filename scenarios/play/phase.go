package play

import (
	"slices"

	"locksim/sim/trace"
)

// phase is where a client stands in the protocol of its lock.
type phase string

const (
	atRest    phase = "at rest"   // it does not want the lock
	asking    phase = "asking"    // it has asked for it
	inside    phase = "inside"    // it has it, and has read nothing
	working   phase = "working"   // between its read and its write
	writing   phase = "writing"   // its write is not answered
	leaving   phase = "leaving"   // after its write
	releasing phase = "releasing" // its release has not returned
	gone      phase = "gone"      // it has crashed
)

// phases are those that begin with an event of a client's.
var phases = map[trace.Step]phase{
	trace.Acquire: asking, trace.Granted: inside, trace.Read: working, trace.Write: writing, trace.Written: leaving,
	trace.Release: releasing, trace.Released: atRest, trace.NotGranted: atRest,
}

// wait is what a client waits for from its Redis nodes.
type wait string

const (
	nothing wait = ""
	request wait = ", request under way"
	reply   wait = ", reply under way"
)

// standing is what is known of a client at an event of the trace.
type standing struct {
	phase    phase
	point    string // the named point that it has passed since the phase began
	requests int    // on their way to a node
	replies  int    // on their way back
	expired  bool   // its lease has ended
}

func (s *standing) wait() wait {
	switch {
	case s.requests > 0:
		return request
	case s.replies > 0:
		return reply
	}
	return nothing
}

// holds says that the client acts as a holder.
func (s *standing) holds() bool {
	return slices.Contains([]phase{inside, working, writing, leaving}, s.phase)
}

// feature is a combination that a search may reach: what the world did, in which
// phase it met the client, and what the others were about.
type feature struct {
	kind    string
	phase   phase
	point   string
	wait    wait
	expired bool
	others  string
}

// observer follows the clients of a run through its trace.
type observer struct {
	clients map[string]*standing
	names   []string
	found   []feature
}

// featuresOf are the combinations that a run has reached.
func featuresOf(t *trace.Trace) []feature {
	o := &observer{clients: map[string]*standing{}}
	for i := range t.Events {
		o.see(&t.Events[i])
	}
	return o.found
}

func (o *observer) see(e *trace.Event) {
	switch {
	case e.Actor == trace.World:
		o.struck(e)
	case isClient(e.Actor):
		o.did(o.client(e.Actor), e)
	case isClient(e.Peer):
		if _, ok := e.What.(trace.Exec); ok {
			c := o.client(e.Peer)
			c.requests, c.replies = max(c.requests-1, 0), c.replies+1
		}
	}
}

// isClient reports whether a name is that of a client: c0, c1, …
func isClient(name string) bool {
	return len(name) > 1 && name[0] == 'c' && '0' <= name[1] && name[1] <= '9'
}

// isServer reports whether a name is that of a server other than the store.
func isServer(name string) bool {
	return name != "" && !isClient(name) && name != storeName && name != probeName && name != trace.World
}

// storeName is the name of the protected resource.
const storeName = "s0"

func (o *observer) client(name string) *standing {
	c, ok := o.clients[name]
	if !ok {
		c = &standing{phase: atRest}
		o.clients[name] = c
		o.names = append(o.names, name)
	}
	return c
}

// did follows what a client did itself.
func (o *observer) did(c *standing, e *trace.Event) {
	switch m := e.What.(type) {
	case trace.Mark:
		next, moves := phases[m.Step]
		switch {
		case moves:
			c.phase, c.point = next, ""
			c.expired = c.expired && next != asking
		case m.Step == trace.Point:
			c.point = m.Label
		case m.Step == trace.Until || m.Step == trace.Lost:
			c.expired = true
		}
	case trace.Send:
		if isServer(e.Peer) {
			c.requests++
		}
	case trace.Receive:
		if isServer(e.Peer) {
			c.replies = max(c.replies-1, 0)
		}
	}
}

// struck notes what the world did to clients, to those whom it names or, where
// it happened to a node, to all.
func (o *observer) struck(e *trace.Event) {
	for _, name := range o.victims(e) {
		c := o.client(name)
		o.found = append(o.found, feature{e.Kind(), c.phase, c.point, c.wait(), c.expired, o.others(name)})
	}
	if _, ok := e.What.(trace.Crash); ok && isClient(e.Peer) {
		*o.client(e.Peer) = standing{phase: gone}
	}
}

func (o *observer) victims(e *trace.Event) []string {
	var named []string
	for _, name := range trace.Parties(*e) {
		if isClient(name) {
			named = append(named, name)
		}
	}
	if len(named) == 0 {
		return slices.Clone(o.names)
	}
	return named
}

// others says what the other clients are about, seen from one of them.
func (o *observer) others(name string) string {
	holds, waits := false, false
	for _, other := range o.names {
		if other == name {
			continue
		}
		c := o.clients[other]
		holds = holds || c.holds()
		waits = waits || c.phase == asking
	}
	switch {
	case holds:
		return "another holds"
	case waits:
		return "another waits"
	}
	return "alone"
}
