package scenarios

import (
	"slices"
	"strings"

	"locksim/faults"
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
var phases = map[string]phase{
	faults.EventAcquire: asking, faults.EventGranted: inside, faults.EventRead: working, faults.EventWrite: writing,
	faults.EventWritten: leaving, faults.EventRelease: releasing, faults.EventReleased: atRest, "not-granted": atRest,
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
	case e.Actor == "world":
		o.struck(e)
	case isClient(e.Actor):
		o.did(o.client(e.Actor), e)
	case e.Kind == "exec" && isClient(e.Peer):
		c := o.client(e.Peer)
		c.requests, c.replies = max(c.requests-1, 0), c.replies+1
	}
}

func isClient(name string) bool { return strings.HasPrefix(name, "c") }

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
	next, moves := phases[e.Kind]
	switch {
	case moves:
		c.phase, c.point = next, ""
		c.expired = c.expired && next != asking
	case e.Kind == "point":
		c.point = e.Text
	case e.Kind == "until" || e.Kind == "lost":
		c.expired = true
	case e.Kind == "send" && strings.HasPrefix(e.Peer, "r"):
		c.requests++
	case e.Kind == "recv" && strings.HasPrefix(e.Peer, "r"):
		c.replies = max(c.replies-1, 0)
	}
}

// struck notes what the world did to clients, to those whom it names or, where
// it happened to a node, to all.
func (o *observer) struck(e *trace.Event) {
	for _, name := range o.victims(e.Peer) {
		c := o.client(name)
		o.found = append(o.found, feature{e.Kind, c.phase, c.point, c.wait(), c.expired, o.others(name)})
	}
	if e.Kind == "crash" && isClient(e.Peer) {
		*o.client(e.Peer) = standing{phase: gone}
	}
}

func (o *observer) victims(peer string) []string {
	var named []string
	for name := range strings.SplitSeq(peer, ",") {
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
