package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"locksim/sim"
	"locksim/sim/raftgroup"
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
	// Protected says how clients keep protected data in the cluster. Nil means that they keep none.
	Protected *Protected
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
	count := cmp.Or(c.Members, 1)
	cl := &cluster{group: raftgroup.New(count), protected: c.Protected, asked: map[uint64]string{},
		creators: map[int64]string{}}
	var nodes []*sim.Node
	for i := range count {
		nodes = append(nodes, b.Add(fmt.Sprintf("e%d", i), port, func(n *sim.Node) sim.Server {
			s := newServer(n, cl)
			cl.members = append(cl.members, s)
			return s
		}))
	}
	if slices.Contains(nodes, nil) { // the builder could not add one, and has the error
		return
	}
	b.Link(nodes...)
	b.Alias(Leader, port, func(string) *sim.Node { return cl.leader().node })
	cl.group.Elect(nodes[0].Draw("the first leader").Between(0, int64(count-1)))
	for _, s := range cl.members {
		s.run()
	}
}

// cluster is the members of a world's cluster, and what the world knows of them.
type cluster struct {
	group   *raftgroup.Group
	members []*Server

	protected *Protected

	index    uint64            // up to which some member has applied the log
	asked    map[uint64]string // clients, by their requests
	creators map[int64]string  // clients, by the revisions at which they created a key
	truth    raftgroup.Truth
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
// entry adds it to the ground truth, on which all of them agree. left is the time that a lease had left before the
// request.
func (c *cluster) applied(s *Server, index uint64, r *pb.InternalRaftRequest, from int,
	left func(raftgroup.Head) trace.TimeLeft) {
	if index <= c.index {
		return
	}
	c.index = index
	c.decided(s, r, from)
	for _, e := range s.keyspace.events[from:] {
		if e.Type == mvccpb.Event_PUT && e.Kv.Version == 1 {
			c.creators[e.Kv.CreateRevision] = c.asked[r.Header.ID]
		}
	}
	if len(c.truth.Watched()) == 0 || from == len(s.keyspace.events) {
		return
	}
	cause := raftgroup.CauseBy(c.asked[r.Header.ID])
	cause.Left = left
	cause.Step = s.node.Note(cause.By, trace.Apply{Effects: applied(s.keyspace.events[from:])})
	if cause.By != "" {
		cause.Request, cause.EndsSession = Request{inner(r)}.Kind(), r.LeaseRevoke != nil
	}
	// The ground truth is that of e0: the members agree.
	c.truth.Tell(c.members[0].node, cause, func(name string) raftgroup.Head { return c.head(s.keyspace, name) })
}

// prolonged is told that the leader is about to give leases more time: by the renewal of a client, or without one when
// it begins to lead. Then the time that they have left by the former leader's clock is not known.
func (c *cluster) prolonged(leader *Server, by string, leases ...int64) {
	if len(c.truth.Watched()) == 0 {
		return
	}
	cause := raftgroup.Cause{Step: leader.node.Next(), By: by, Left: func(h raftgroup.Head) trace.TimeLeft {
		if by == "" {
			return trace.TimeLeft{}
		}
		return c.leaseLeft(h)
	}}
	if by != "" {
		cause.Request = Request{&pb.LeaseKeepAliveRequest{}}.Kind()
	}
	c.truth.Prolonged(c.members[0].node, cause, func(h raftgroup.Head) bool { return slices.Contains(leases, h.Lease) })
}

// leaseLeft is the time that a key has left by the clock of the leader.
func (c *cluster) leaseLeft(h raftgroup.Head) trace.TimeLeft {
	if h.Lease == 0 {
		return trace.TimeLeft{End: trace.EndNever}
	}
	l := &c.leader().lessor
	if _, known := l.ends[h.Lease]; !known {
		return trace.TimeLeft{}
	}
	return trace.LeftFor(l.left(h.Lease))
}

// applied is what a request has changed.
type applied []*mvccpb.Event

func (a applied) AppendText(b []byte) []byte { return happened(a).AppendText(b) }
func (a applied) AppendHash(b []byte) []byte { return happened(a).AppendHash(b) }

// head is the value of a watched key, and who has created it. Where the name ends with a slash, it is that of the keys
// under it that was created first.
func (c *cluster) head(k *keyspace, name string) raftgroup.Head {
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
		return raftgroup.Head{}
	case isQueue(name):
		return raftgroup.Head{Value: string(first.Key), By: c.creator(first), Lease: first.Lease, Made: first.CreateRevision}
	}
	return raftgroup.Head{
		Value: fmt.Sprintf("%d: %s", first.CreateRevision, first.Value), By: c.creator(first), Lease: first.Lease,
		Made: first.CreateRevision,
	}
}

// creator is the client that has created a key.
func (c *cluster) creator(v *mvccpb.KeyValue) string { return c.creators[v.CreateRevision] }

// isQueue reports whether a watched name is that of a queue: all keys under it.
func isQueue(name string) bool { return strings.HasSuffix(name, "/") }

// WatchKeys implements [sim.KeyWatcher]. A name that ends with a slash stands for a queue: its value is that of the
// keys under it that was created first, which is how a lock of etcd knows its holder.
func (s *Server) WatchKeys(names []string) {
	s.cluster.truth.Watch(names)
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
	for _, name := range s.cluster.truth.Watched() {
		if h := s.cluster.head(s.keyspace, name); isQueue(name) && h.Value != "" {
			list = append(list, trace.Key{Name: name, Value: h.Value, TTL: s.left(h.Lease)})
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
