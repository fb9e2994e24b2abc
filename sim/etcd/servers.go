package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/raft/v3/raftpb"

	"locksim/sim"
	"locksim/sim/trace"
)

// Leader is a name that is dialled like a member's, with an address of its own: it resolves to the leader of the
// highest term, or to e0 while there is none. Faults name it too.
const Leader = "leader"

// port is that on which etcd serves clients.
const port = 2379

// Servers are the members of an etcd cluster: e0, e1, … It is a [sim.Kind]. The zero value is a cluster of one.
type Servers struct {
	// Members is their number, usually 1 or 3, and 9 at most. Default 1.
	Members int
}

// Validate returns an error for an invalid field, or nil.
func (c Servers) Validate() error {
	if c.Members < 0 || c.Members > maxMembers {
		return fmt.Errorf("%d etcd members: give 1 to %d", c.Members, maxMembers)
	}
	return nil
}

// maxMembers is the maximal number of members of a cluster.
const maxMembers = 9

// Cluster is a cluster of so many members.
func Cluster(members int) sim.Kind { return Servers{Members: members} }

// Build implements [sim.Kind]. The cluster has a leader from the beginning, which the seed chooses.
func (c Servers) Build(b *sim.Builder) {
	cl := &cluster{asked: map[uint64]string{}, creators: map[int64]string{}, truth: map[string]head{}}
	var nodes []*sim.Node
	count := cmp.Or(c.Members, 1)
	for i := range count {
		nodes = append(nodes, b.Add(fmt.Sprintf("e%d", i), port, func(n *sim.Node) sim.Server {
			s := newServer(n, cl, uint64(i+1), count)
			cl.members = append(cl.members, s)
			return s
		}))
	}
	if slices.Contains(nodes, nil) { // the builder could not add one, and has the error
		return
	}
	b.Link(nodes...)
	b.Alias(Leader, port, func(string) *sim.Node { return cl.leader().node })
	cl.elect(nodes[0].Draw("the first leader").Between(0, int64(count-1)))
}

// cluster is the members of a world's cluster, and what the world knows of them.
type cluster struct {
	members []*Server
	direct  []func() // messages of the first election, which takes no time
	started bool

	index    uint64            // up to which some member has applied the log
	asked    map[uint64]string // clients, by their requests
	watched  []string
	creators map[int64]string // clients, by the revisions at which they created a key
	truth    map[string]head  // by watched key
}

// head is the value of a watched key, who has created it, and its lease.
type head struct {
	value, by string
	lease     int64
}

// elect makes a member the leader before the world begins.
func (c *cluster) elect(first int64) {
	if err := c.members[first].raft.Campaign(); err != nil {
		c.members[first].node.Fail(fmt.Errorf("elect the first leader: %w", err))
		return
	}
	c.members[first].pump()
	for len(c.direct) > 0 {
		deliver := c.direct[0]
		c.direct = c.direct[1:]
		deliver()
	}
	c.started = true
	for _, s := range c.members {
		s.run()
	}
}

// send sends a message of raft.
func (c *cluster) send(from *Server, m *raftpb.Message) {
	to := c.members[m.GetTo()-1]
	if !c.started {
		c.direct = append(c.direct, func() { to.step(m) })
		return
	}
	from.node.Peer(to.node).Send(func() { to.step(m) })
}

// leader is the leader of the highest term that runs, or e0.
func (c *cluster) leader() *Server {
	found := c.members[0]
	for _, s := range c.members {
		if s.Leads() && (!found.Leads() || s.Term() > found.Term()) {
			found = s
		}
	}
	return found
}

// applied is told of each entry that a member has applied, before the member answers. The first member that applies an
// entry adds it to the ground truth, on which all of them agree.
func (c *cluster) applied(s *Server, index uint64, r *pb.InternalRaftRequest, from int) {
	if index <= c.index {
		return
	}
	c.index = index
	for _, e := range s.keyspace.events[from:] {
		if e.Type == mvccpb.Event_PUT && e.Kv.Version == 1 {
			c.creators[e.Kv.CreateRevision] = c.asked[r.Header.ID]
		}
	}
	if len(c.watched) == 0 || from == len(s.keyspace.events) {
		return
	}
	step := s.node.Record(c.asked[r.Header.ID], trace.Apply{Effects: applied(s.keyspace.events[from:])})
	c.tell(s, step, c.asked[r.Header.ID])
}

// applied is what a request has changed.
type applied []*mvccpb.Event

func (a applied) AppendText(b []byte) []byte { return happened(a).AppendText(b) }
func (a applied) AppendHash(b []byte) []byte { return happened(a).AppendHash(b) }

// tell adds to the ground truth what has changed of the watched keys, by the request of a client, or without one.
func (c *cluster) tell(s *Server, step int, by string) {
	for _, name := range c.watched {
		now, before := c.head(s.keyspace, name), c.truth[name]
		if now == before {
			continue
		}
		c.truth[name] = now
		if before.value != "" && (now.value == "" || now.by != by) { // it went, and the next one came to the head
			change := trace.KeyDeleted
			if by == "" {
				change = trace.KeyExpired
			}
			c.change(trace.KeyChange{Step: step, Key: name, By: by, Change: change})
		}
		if now.value != "" {
			c.change(trace.KeyChange{Step: step, Key: name, Value: now.value, By: now.by, Change: trace.KeySet})
		}
	}
}

// change adds to the ground truth, which is that of e0: the members agree.
func (c *cluster) change(k trace.KeyChange) { c.members[0].node.KeyChanged(k) }

// head is the value of a watched key, and who has created it. Where the name ends with a slash, it is that of the keys
// under it that was created first.
func (c *cluster) head(k *keyspace, name string) head {
	from, to := []byte(name), []byte(nil)
	if isQueue(name) {
		to = []byte(prefixEnd(name))
	}
	var first *mvccpb.KeyValue
	for _, v := range k.find(from, to, k.revision) {
		if first == nil || v.CreateRevision < first.CreateRevision {
			first = v
		}
	}
	switch {
	case first == nil:
		return head{}
	case isQueue(name):
		return head{string(first.Key), c.creator(first), first.Lease}
	}
	return head{fmt.Sprintf("%d: %s", first.CreateRevision, first.Value), c.creator(first), first.Lease}
}

// creator is the client that has created a key.
func (c *cluster) creator(v *mvccpb.KeyValue) string { return c.creators[v.CreateRevision] }

// isQueue reports whether a watched name is that of a queue: all keys under it.
func isQueue(name string) bool { return strings.HasSuffix(name, "/") }

// WatchKeys implements [sim.KeyWatcher]. A name that ends with a slash stands for a queue: its value is that of the keys
// under it that was created first, which is how a lock of etcd knows its holder.
func (s *Server) WatchKeys(names []string) {
	for _, name := range names {
		if !slices.Contains(s.cluster.watched, name) {
			s.cluster.watched = append(s.cluster.watched, name)
		}
	}
}

// Keys implements [sim.Keyed]: the keys as this member has them, and the watched queues. The TTL is that of the lease
// on the leader.
func (s *Server) Keys() []trace.Key {
	if s.node.Down() {
		return nil
	}
	var list []trace.Key
	for _, v := range s.keyspace.find([]byte{0}, []byte{0}, s.keyspace.revision) {
		list = append(list, trace.Key{Name: string(v.Key), Value: string(v.Value), TTL: s.left(v.Lease)})
	}
	for _, name := range s.cluster.watched {
		if h := s.cluster.head(s.keyspace, name); isQueue(name) && h.value != "" {
			list = append(list, trace.Key{Name: name, Value: h.value, TTL: s.left(h.lease)})
		}
	}
	slices.SortFunc(list, func(a, b trace.Key) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// left is the time that a lease has left, as far as this member knows: by the leader's clock, and all of it without a
// leader.
func (s *Server) left(id int64) time.Duration {
	l := s.keyspace.leases[id]
	if l == nil {
		return 0
	}
	if leader := s.cluster.leader(); leader.lessor.leads() {
		return max(leader.lessor.left(id), 1) // the leader may have ended it already
	}
	return time.Duration(l.ttl) * time.Second
}
