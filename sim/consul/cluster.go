// Package consul has the servers of a Consul for a simulated world, as far as locks go: sessions, keys and values,
// and blocking queries, over HTTP/1.1.
//
// One server answers as Consul's own agent, 1.14.11, does: TestAnswersOfConsul has answers of that on record, and
// TestBesideConsul compiles it. How several servers elect a leader and miss one another is modelled after
// documentation, and each test names the place of the sentence that it tests: the HTTP API of sessions, of the KV
// store, of blocking queries and of consistency modes (developer.hashicorp.com/consul/api-docs), "Sessions and
// distributed locks" and "Consensus" (developer.hashicorp.com/consul/docs), and the agent's configuration.
// docs/explanation/limits.md has what is not as in Consul.
//
// The servers agree by raft, in place of Consul's own library of it, with its times: a follower that does not hear
// the leader stands for election after 5 to 10 s, and a leader that does not hear a majority steps down after 2.5 s
// (raft_multiplier 5, the default). Sessions are measured by the leader, with its monotonic clock: each ends after
// twice its TTL without a renewal, and a new leader gives each session that time again. A session belongs to the node
// of the server through which it was made, with the default check serfHealth: it ends when the others miss that
// server for 5 s.
package consul

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/sim"
	"locksim/sim/httpserver"
	"locksim/sim/raftgroup"
	"locksim/sim/trace"
)

// Servers is the name under which clients dial the servers: each gets one of them, and another one while that is
// down, as by a name service that asks the servers for their health. Leader resolves to the leader, or to consul0
// without one.
const (
	Servers = "consul"
	Leader  = "leader"
)

// Port is that of the HTTP API.
const Port = 8500

// Prefix begins the names of the servers: consul0, consul1, …
const Prefix = "consul"

// maxServers is the maximal number of servers of a cluster.
const maxServers = 9

// Cluster is so many servers, usually 3. It is a [sim.Kind].
type Cluster int

// Build implements [sim.Kind]. The last server leads from the beginning.
func (n Cluster) Build(b *sim.Builder) {
	if n < 1 || n > maxServers {
		b.Fail(fmt.Errorf("%d servers of Consul: give 1 to %d", int(n), maxServers))
		return
	}
	c := &cluster{group: raftgroup.New(int(n)), asked: map[uint64]string{}, clients: map[string]string{},
		timed: map[string]bool{}}
	var nodes []*sim.Node
	for i := range int(n) {
		nodes = append(nodes, b.Add(fmt.Sprint(Prefix, i), Port, func(node *sim.Node) sim.Server {
			s := newServer(node, c)
			c.servers = append(c.servers, s)
			return s
		}))
	}
	if slices.Contains(nodes, nil) { // the builder could not add one, and has the error
		return
	}
	b.Link(nodes...)
	b.Alias(Leader, Port, func(string) *sim.Node { return c.leader().node })
	b.Alias(Servers, Port, httpserver.Balanced(nodes))
	c.group.Elect(int64(n) - 1)
	for _, s := range c.servers {
		s.run()
	}
}

// cluster is the servers of a world, and what the world knows of them.
type cluster struct {
	group   *raftgroup.Group
	servers []*server

	index   uint64            // up to which some server has applied the log
	asked   map[uint64]string // clients, by their requests
	clients map[string]string // clients, by the sessions that they made
	timed   map[string]bool   // the sessions that have a TTL
	truth   raftgroup.Truth
}

// leader is the leader of the highest term that runs, or consul0.
func (c *cluster) leader() *server {
	found := c.servers[0]
	for _, s := range c.servers {
		if s.leads() && (!found.leads() || s.raft.Term() > found.raft.Term()) {
			found = s
		}
	}
	return found
}

// applied is told of each entry that a server has applied, before the server answers. The first one that applies an
// entry adds it to the ground truth, on which all of them agree.
func (c *cluster) applied(s *server, index uint64, e entry, changed bool) {
	if index <= c.index {
		return
	}
	c.index = index
	cause := raftgroup.CauseBy(c.asked[e.ID])
	by := cause.By
	if e.Op == opCreate {
		c.clients[e.Session], c.timed[e.Session] = by, e.TTL > 0
	}
	if len(c.truth.Watched()) == 0 || !changed {
		return
	}
	cause.Step, cause.Left = s.node.Note(by, trace.Apply{Effects: e}), c.sessionLeft
	if by != "" {
		cause.Request, cause.EndsSession = string(e.Op), e.Op == opDestroy
	}
	// The ground truth is that of consul0: the servers agree.
	c.truth.Tell(c.servers[0].node, cause, func(name string) raftgroup.Head { return c.head(s.state, name) })
}

// prolonged is told that the leader is about to give a session its time again: for a client that renews it, or without
// one when it begins to lead. Then the time that was left by the former leader's clock is not known.
func (c *cluster) prolonged(leader *server, by, session string) {
	if len(c.truth.Watched()) == 0 {
		return
	}
	cause := raftgroup.Cause{Step: leader.node.Next(), By: by, Left: func(h raftgroup.Head) trace.TimeLeft {
		if by == "" {
			return trace.TimeLeft{}
		}
		return c.sessionLeft(h)
	}}
	if by != "" {
		cause.Request = string(doesRenew)
	}
	c.truth.Prolonged(c.servers[0].node, cause, func(h raftgroup.Head) bool { return h.Session == session })
}

// sessionLeft is the time that a lock has left by the clock of the leader.
func (c *cluster) sessionLeft(h raftgroup.Head) trace.TimeLeft {
	if !c.timed[h.Session] {
		return trace.TimeLeft{End: trace.EndSession}
	}
	leader := c.leader()
	at, known := leader.endsAt[h.Session]
	if !known || !leader.leads() {
		return trace.TimeLeft{}
	}
	return trace.LeftFor(at - leader.node.Monotonic())
}

// head is who has a lock: the session of a key or, for the key in which a semaphore of the Go client with one slot
// has its holders, the first of these with a session that goes on.
func (c *cluster) head(s *state, name string) raftgroup.Head {
	p := s.pairs[name]
	if p == nil {
		return raftgroup.Head{}
	}
	if prefix, ok := strings.CutSuffix(name, SemaphoreKey); ok {
		for _, id := range holders(p.Value) {
			if alive := s.pairs[prefix+"/"+id]; alive != nil && alive.Session != "" {
				return raftgroup.Head{Value: id, By: c.clients[id], Session: id, Made: int64(p.CreateIndex)}
			}
		}
		return raftgroup.Head{}
	}
	if p.Session == "" {
		return raftgroup.Head{}
	}
	return raftgroup.Head{
		Value: fmt.Sprintf("%s #%d", p.Session, p.acquired), By: c.clients[p.Session], Session: p.Session,
		Made: int64(p.CreateIndex),
	}
}

// SemaphoreKey ends the name of the key in which a semaphore of the Go client has its holders.
const SemaphoreKey = "/.lock"

// holders are the sessions in the key of a semaphore, in order.
func holders(value []byte) []string {
	var lock struct{ Holders map[string]bool }
	if json.Unmarshal(value, &lock) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(lock.Holders))
}

// WatchKeys implements [sim.KeyWatcher].
func (s *server) WatchKeys(names []string) { s.cluster.truth.Watch(names) }

// Keys implements [sim.Keyed]: the keys that a session has, as the leader knows, and without one as this server does.
// The TTL is that which the session has left.
func (s *server) Keys() []trace.Key {
	if s.node.Down() {
		return nil
	}
	known := s.state
	if leader := s.cluster.leader(); leader.leads() {
		known = leader.state
	}
	var out []trace.Key
	for _, name := range slices.Sorted(maps.Keys(known.pairs)) {
		h := s.cluster.head(known, name)
		if h.Value == "" {
			continue
		}
		session := cmp.Or(known.pairs[name].Session, h.Value)
		out = append(out, trace.Key{Name: name, Value: h.Value, TTL: s.left(session)})
	}
	return out
}
