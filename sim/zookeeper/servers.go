package zookeeper

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locksim/sim"
	"locksim/sim/raftgroup"
	"locksim/sim/trace"
)

// Leader is a name that is dialled like a server's, with an address of its own: it resolves to the leader, or to z0
// while there is none. Faults name it too.
const Leader = "leader"

// port is that on which ZooKeeper serves clients.
const port = 2181

// Servers are a ZooKeeper: z0, z1, … It is a [sim.Kind]. The zero value is a single server.
type Servers struct {
	// Count is their number, usually 1 or 3, and 9 at most. Several are an ensemble. Default 1.
	Count int
}

// maxServers is the maximal number of servers of an ensemble.
const maxServers = 9

// Validate returns an error for an invalid field, or nil.
func (c Servers) Validate() error {
	if c.Count < 0 || c.Count > maxServers {
		return fmt.Errorf("%d servers of ZooKeeper: give 1 to %d", c.Count, maxServers)
	}
	return nil
}

// Ensemble is an ensemble of so many servers.
func Ensemble(count int) sim.Kind { return Servers{Count: count} }

// Build implements [sim.Kind]. An ensemble has a leader from the beginning: of servers that know equally much,
// ZooKeeper's election chooses the one with the highest number.
func (c Servers) Build(b *sim.Builder) {
	count := cmp.Or(c.Count, 1)
	e := &ensemble{group: raftgroup.New(count), asked: map[uint64]string{}, creators: map[int64]string{},
		members: map[string][]string{}}
	var nodes []*sim.Node
	for i := range count {
		nodes = append(nodes, b.Add(fmt.Sprintf("z%d", i), port, func(n *sim.Node) sim.Server {
			s := newServer(n, e)
			e.servers = append(e.servers, s)
			return s
		}))
	}
	if slices.Contains(nodes, nil) { // the builder could not add one, and has the error
		return
	}
	b.Link(nodes...)
	b.Alias(Leader, port, func(string) *sim.Node { return e.leader().node })
	e.group.Elect(int64(count - 1))
	for _, s := range e.servers {
		s.run()
	}
}

// ensemble is the servers of a world, and what the world knows of them.
type ensemble struct {
	group   *raftgroup.Group
	servers []*Server

	index    uint64            // up to which some server has applied the log
	asked    map[uint64]string // clients, by their transactions
	creators map[int64]string  // clients, by the transactions in which they created a node
	truth    raftgroup.Truth
	members  map[string][]string // of the watched queues
}

// single reports whether there is one server only, which ZooKeeper calls standalone.
func (e *ensemble) single() bool { return len(e.servers) == 1 }

// leader is the leader of the highest term that runs, or z0.
func (e *ensemble) leader() *Server {
	found := e.servers[0]
	for _, s := range e.servers {
		if s.Leads() && (!found.Leads() || s.raft.Term() > found.raft.Term()) {
			found = s
		}
	}
	return found
}

// applied is told of each transaction that a server has executed, before it is answered. The first server that does so
// adds it to the ground truth, on which all of them agree.
func (e *ensemble) applied(s *Server, index uint64, x transaction, events []event) {
	if index <= e.index {
		return
	}
	e.index = index
	cause := raftgroup.CauseBy(e.asked[x.id])
	by := cause.By
	for _, v := range events {
		if v.kind == nodeCreated {
			e.creators[s.tree.nodes[v.path].czxid] = by
		}
	}
	if len(e.truth.Watched()) == 0 || len(events) == 0 {
		return
	}
	cause.Step = s.node.Note(by, trace.Apply{Effects: changes(events)})
	if by != "" {
		q, _ := parse(x.packet) // it was read before
		cause.Request, cause.EndsSession = Request{q}.Kind(), q.op == opCloseSession
	}
	// The ground truth is that of z0: the servers agree.
	for _, name := range e.truth.Watched() {
		if isMembers(name) {
			e.tellMembers(s.tree, cause, name)
		}
	}
	e.truth.Tell(e.servers[0].node, cause, func(name string) raftgroup.Head { return e.head(s.tree, name) })
}

// tellMembers adds to the ground truth who queues, if a transaction has changed that.
func (e *ensemble) tellMembers(t *tree, c raftgroup.Cause, name string) {
	queue := strings.TrimSuffix(name, allMembers)
	var members []string
	if parent := t.nodes[queue]; parent != nil {
		members = slices.SortedFunc(maps.Keys(parent.children), func(a, b string) int {
			return cmp.Compare(t.nodes[queue+"/"+a].czxid, t.nodes[queue+"/"+b].czxid)
		})
	}
	if slices.Equal(members, e.members[name]) {
		return
	}
	change := trace.KeyChange{
		Step: c.Step, Key: name, Value: strings.Join(members, " "), Members: members, By: c.By, Change: trace.KeySet,
		Asked: c.By, Request: c.Request,
	}
	switch {
	case len(members) == 0 && c.By == "":
		change.Change = trace.KeyExpired
	case len(members) == 0:
		change.Change = trace.KeyDeleted
	}
	if len(e.members[name]) > 0 {
		change.Left.End = trace.EndNever
	}
	e.members[name] = members
	e.servers[0].node.KeyChanged(change)
}

// changes are events in words: the nodes that were created, changed and deleted.
type changes []event

func (c changes) AppendText(b []byte) []byte {
	var list []string
	for _, e := range c {
		if e.kind != nodeChildrenChanged {
			list = append(list, e.kind.String()+" "+e.path)
		}
	}
	return append(b, trace.Readable(strings.Join(list, ", "))...)
}

func (c changes) AppendHash(b []byte) []byte {
	for _, e := range c {
		b = trace.AppendString(trace.AppendInt(b, int64(e.kind)), e.path)
	}
	return b
}

// head is the value of a watched node, and who has created it. Where the name ends with a slash, it is that of the
// nodes under it that was created first.
func (e *ensemble) head(t *tree, name string) raftgroup.Head {
	if isMembers(name) {
		return raftgroup.Head{}
	}
	if !isQueue(name) {
		n := t.nodes[name]
		if n == nil {
			return raftgroup.Head{}
		}
		return raftgroup.Head{Value: fmt.Sprintf("%x: %s", n.czxid, n.data), By: e.creators[n.czxid], Lease: n.owner,
			Made: n.czxid}
	}
	var first *node
	var head raftgroup.Head
	if parent := t.nodes[strings.TrimSuffix(name, "/")]; parent != nil {
		for child := range parent.children {
			if n := t.nodes[name+child]; first == nil || n.czxid < first.czxid {
				first, head = n, raftgroup.Head{Value: child, By: e.creators[n.czxid], Lease: n.owner, Made: n.czxid}
			}
		}
	}
	return head
}

// isQueue reports whether a watched name is that of a queue: all nodes under it.
func isQueue(name string) bool { return strings.HasSuffix(name, "/") }

// allMembers ends the watched name of a queue that stands for all of its nodes.
const allMembers = "/*"

func isMembers(name string) bool { return strings.HasSuffix(name, allMembers) }

// WatchKeys implements [sim.KeyWatcher]. A name that ends with a slash stands for a queue: its value is that of the
// nodes under it that was created first, which is how a lock on ZooKeeper knows its holder. One that ends with "/*"
// stands for the names of all nodes under it.
func (s *Server) WatchKeys(names []string) { s.ensemble.truth.Watch(names) }

// Keys implements [sim.Keyed]: the nodes as this server has them, and the watched ones as the servers have agreed on,
// which this one may not know yet. The TTL of an ephemeral node is that of its session on the leader.
func (s *Server) Keys() []trace.Key {
	if s.node.Down() {
		return nil
	}
	watched := s.ensemble.truth.Watched()
	var all []trace.Key
	for path, n := range s.tree.nodes {
		if !slices.Contains(special, path) && !slices.Contains(watched, path) {
			all = append(all, trace.Key{Name: path, Value: string(n.data), TTL: s.left(n.owner)})
		}
	}
	latest := slices.MaxFunc(s.ensemble.servers, func(a, b *Server) int { return cmp.Compare(a.tree.zxid, b.tree.zxid) })
	for _, name := range watched {
		if h := s.ensemble.head(latest.tree, name); h.Value != "" {
			all = append(all, trace.Key{Name: name, Value: h.Value, TTL: latest.left(h.Lease)})
		}
	}
	slices.SortFunc(all, func(a, b trace.Key) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// left is the time that a session has left, as far as this server knows: by the leader's clock, and all of it without a
// leader. It is 0 for the owner of a node that is not ephemeral.
func (s *Server) left(session int64) time.Duration {
	timeout, known := s.tree.sessions[session]
	if !known {
		return 0
	}
	if l := s.ensemble.leader(); l.serving && l.Leads() {
		return max(l.sessions.ends[session]-l.node.Monotonic(), 1) // the leader may have ended it already
	}
	return time.Duration(timeout) * time.Millisecond
}
