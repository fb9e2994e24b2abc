package kube

import (
	"maps"
	"slices"
	"strconv"
	"time"

	coordination "k8s.io/api/coordination/v1"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// store is the database of the cluster. Its objects are never changed, but replaced.
type store struct {
	node      *sim.Node
	followers []*apiServer

	disk     map[string]*object
	revision int64
	watched  []string
}

// object is a lease, and what the world knows of it.
type object struct {
	lease   *coordination.Lease
	by      string        // the client that wrote it
	holder  string        // the client that wrote the identity of the holder first; "" if it has none
	written time.Duration // on the store's clock, when it was last written
	stale   *sim.Timer    // says that the lease is over for those who have observed it
	over    bool          // it was said
}

func newStore(n *sim.Node) *store { return &store{node: n, disk: map[string]*object{}, revision: 1} }

// Accept implements [sim.Server]: clients do not reach the store.
func (*store) Accept(*sim.ServerConn) sim.Session { return nil }

// get is the present object, nil if there is none.
func (s *store) get(key string) *object { return s.disk[key] }

// put writes a lease for a client, or an operator if that is "", or deletes it if it is nil, if the present one has the
// resource version that it was made from, "" for none. It returns what is there then.
func (s *store) put(key, from string, l *coordination.Lease, client, server string) (now *object, written bool) {
	before := s.disk[key]
	if version(before) != from {
		s.record(client, server, key, from, l, before, false)
		return before, false
	}
	s.revision++
	if before != nil && before.stale != nil {
		before.stale.Stop()
	}
	if l == nil {
		delete(s.disk, key)
		s.tell(key, s.record(client, server, key, from, nil, before, true), client, before)
		last := *before
		last.lease = before.lease.DeepCopy()
		last.lease.ResourceVersion = strconv.FormatInt(s.revision, 10)
		s.publish(change{key: key, revision: s.revision, now: &last, was: before, deleted: true})
		return nil, true
	}
	l = l.DeepCopy()
	l.ResourceVersion = strconv.FormatInt(s.revision, 10)
	o := &object{lease: l, by: client, written: s.node.Monotonic()}
	if id := holder(l); id != "" {
		o.holder = client
		if before != nil && holder(before.lease) == id {
			o.holder = before.holder
		}
	}
	s.disk[key] = o
	s.plan(key)
	s.tell(key, s.record(client, server, key, from, l, before, true), client, before)
	s.publish(change{key: key, revision: s.revision, now: o, was: before})
	return o, true
}

// publish tells the API servers of a change.
func (s *store) publish(c change) {
	for _, a := range s.followers {
		s.node.Peer(a.node).Send(func() { a.follow(c) })
	}
}

// record adds the write to the trace.
func (s *store) record(client, server, key, from string, l *coordination.Lease, before *object, written bool) int {
	return s.node.Record(client, trace.Exec{
		Conn: server, Request: transaction{key, deed(l, before), from, l}, Answer: outcome{before, written},
	})
}

// plan says when a lease was not renewed for as long as it says, from when on a client that has observed it may take
// it.
func (s *store) plan(key string) {
	o := s.disk[key]
	if holder(o.lease) == "" || o.over {
		return
	}
	o.stale = s.node.After(max(o.written+duration(o.lease)-s.node.Monotonic(), 0), func() {
		left := s.left(o)
		o.over = true
		if slices.Contains(s.watched, key) {
			step := s.node.Note("", trace.Expire{Key: key})
			s.node.KeyChanged(trace.KeyChange{Step: step, Key: key, Change: trace.KeyExpired, Left: left, ByClients: true})
		}
	})
}

// left is the time that a lease had left, of which the store knows as much as its clients: they end a lease, by their
// own clocks, when they have not seen it renewed for as long as it says.
func (s *store) left(o *object) trace.TimeLeft {
	if o == nil || o.over || holder(o.lease) == "" {
		return trace.TimeLeft{End: trace.EndNone}
	}
	return trace.LeftFor(o.written + duration(o.lease) - s.node.Monotonic())
}

// tell adds to the ground truth who has a lease, if that has changed, or that its holder has renewed it.
func (s *store) tell(key string, step int, by string, before *object) {
	if !slices.Contains(s.watched, key) {
		return
	}
	var now object // with a lease of no holder, if it is deleted
	if o := s.disk[key]; o != nil {
		now = *o
	}
	id, had := holder(now.lease), ""
	if before != nil && !before.over {
		had = holder(before.lease)
	}
	c := trace.KeyChange{Step: step, Key: key, By: by, Change: trace.KeyDeleted, Asked: by,
		Request: deed(now.lease, before), Left: s.left(before)}
	if had != "" {
		c.Was, c.WasOf = had, before.holder
	}
	switch {
	case id == had && id != "":
		c.Value, c.Change = id, trace.KeyProlonged
		s.node.KeyChanged(c)
		return
	case id == had:
		return
	}
	c.Over = had != "" && id != ""
	if by == "" { // an operator
		c.Value, c.Request, c.Change = id, "", trace.KeyOperated
		s.node.KeyChanged(c)
		return
	}
	if had != "" {
		s.node.KeyChanged(c)
	}
	if id != "" {
		c.Value, c.By, c.Change = id, now.holder, trace.KeySet
		s.node.KeyChanged(c)
	}
}

// Crash implements [sim.Crasher]: all that was acknowledged is on the disk.
func (s *store) Crash(faults.CrashMode) {}

// Kept implements [sim.Keeper].
func (s *store) Kept() string { return strconv.Itoa(len(s.disk)) + " leases kept" }

// Restart implements [sim.Restarter]. The API servers list everything again.
func (s *store) Restart(int) {
	for _, key := range slices.Sorted(maps.Keys(s.disk)) {
		s.plan(key)
	}
	for _, a := range s.followers {
		s.list(a)
	}
}

// PeerBack implements [sim.PeerFollower].
func (s *store) PeerBack(n *sim.Node) {
	if a, ok := n.Server().(*apiServer); ok {
		s.list(a)
	}
}

// list sends an API server all leases.
func (s *store) list(a *apiServer) {
	all, revision := maps.Clone(s.disk), s.revision
	s.node.Peer(a.node).Send(func() { a.begin(all, revision) })
}

// WatchKeys implements [sim.KeyWatcher].
func (s *store) WatchKeys(names []string) { s.watched = append(s.watched, names...) }

// Keys implements [sim.Keyed]: the leases that somebody has. A client that begins to observe one now may take it when
// the whole duration has passed, so that is its TTL.
func (s *store) Keys() []trace.Key {
	var out []trace.Key
	for _, key := range slices.Sorted(maps.Keys(s.disk)) {
		if l := s.disk[key].lease; holder(l) != "" && !s.node.Down() {
			out = append(out, trace.Key{Name: key, Value: holder(l), TTL: duration(l)})
		}
	}
	return out
}

// version is the resource version of an object, "" for none.
func version(o *object) string {
	if o == nil {
		return ""
	}
	return o.lease.ResourceVersion
}

// holder is the identity of who has a lease, "" for none and for no lease.
func holder(l *coordination.Lease) string {
	if l == nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// duration is how long a lease lasts without a renewal.
func duration(l *coordination.Lease) time.Duration {
	if l.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
}
