package redis

import (
	"maps"
	"slices"
	"time"

	"locksim/sim"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// role is a server's part in replication.
type role struct {
	server    *Server
	leader    *Server      // the primary of a replica, nil for a primary
	source    *replication // the replication from it, unless the server is down
	followers []*replication
	parted    []*replication // that have ended, and the server has not noticed: see [Server.part]
}

// replication is how a replica follows its primary: it copies all keys of the
// primary, and then gets the effects of each command, in order and late. The
// primary does not wait for it.
type replication struct {
	from, to *Server
	out      sim.Peer      // from the primary to the replica
	back     sim.Peer      // from the replica to the primary
	live     bool          // the copy is under way, and effects follow it
	ended    bool          // the replica no longer follows this primary
	session  int           // numbers the connections: messages of an old one are dropped
	departs  time.Duration // the latest departure of a message of the primary
	acked    int64         // the offset that the replica has acknowledged
	heard    time.Duration // when it did so last, in the wall time of the primary
	copied   bool          // the replica has the copy, and its connection stands
	brokenAt time.Duration // since when it has not, in virtual time
}

// follow makes the node a replica of another, with a full synchronisation.
func (n *Server) follow(primary *Server) *replication {
	n.unfollow()
	r := &replication{from: primary, to: n, out: primary.node.Peer(n.node), back: n.node.Peer(primary.node)}
	n.repl.leader, n.repl.source = primary, r
	primary.repl.followers = append(primary.repl.followers, r)
	r.brokenAt = n.node.Virtual()
	return r
}

// unfollow ends the node's replication.
func (n *Server) unfollow() {
	if r := n.repl.source; r != nil {
		r.ended = true
		followers := &r.from.repl.followers
		*followers = slices.DeleteFunc(*followers, func(x *replication) bool { return x == r })
		r.part()
	}
	n.repl.leader, n.repl.source = nil, nil
}

// void reports whether a message belongs to an ended connection.
func (r *replication) void(session int) bool { return r.ended || r.session != session }

// feed sends effects to the replica.
func (r *replication) feed(b batch) {
	if r.live {
		r.send(func() { r.to.apply(r.from, b) })
	}
}

// send calls f at the replica, in order. The primary delays it by the lag
// first: a delayed message is lost if the primary crashes.
func (r *replication) send(f func()) {
	session := r.session
	arrive := func() {
		if !r.void(session) {
			f()
		}
	}
	lag := r.from.family.config.Lag
	if lag == (sim.Latency{}) {
		r.out.Send(arrive)
		return
	}
	now := r.from.node.Virtual()
	drawn := time.Duration(r.out.Draw("lag").Num(int64(now)).Between(int64(lag.Min), int64(lag.Max)))
	hold := max(now+drawn, r.departs+1) - now
	r.departs = r.out.SendAfter(hold, func() bool { return !r.void(session) }, arrive)
}

// apply applies the primary's effects to a replica's keys.
func (n *Server) apply(from *Server, b batch) {
	n.tick()
	why := origin{step: n.node.Record(from.Name(), trace.Apply{Effects: b}), change: trace.KeyReplicated}
	l := n.ledger
	for _, e := range b.effects {
		was := l.seen(e.key)
		l.dbs[e.key.db] = true
		l.set(e.key, e.datum)
		n.data.put(e.key, e.datum)
		n.changed(e.key, was, l.seen(e.key), why)
	}
	l.offset = b.offset
	n.disk.write(b)
	for _, r := range n.repl.followers { // of a replica: a primary that was made one
		r.feed(b)
	}
	l.plan()
	n.blocked.wake()
}

// resync starts a new connection to the primary, and a full synchronisation. A
// replica that is down does so when it restarts.
func (r *replication) resync() {
	r.live, r.acked = false, 0
	r.broken()
	if r.to.node.Down() {
		return
	}
	r.session++
	session := r.session
	r.back.Send(func() { r.copy(session) })
}

// copy sends all keys of the primary to the replica.
func (r *replication) copy(session int) {
	if r.void(session) {
		return
	}
	r.from.tick()
	data, offset := maps.Clone(r.from.ledger.data), r.from.ledger.offset
	r.live, r.heard = true, r.from.node.Wall()
	r.send(func() {
		r.to.receive(r.from, data, offset)
		r.copied = true
		r.acknowledge()
	})
}

// receive replaces all keys of a replica.
func (n *Server) receive(from *Server, data map[dbKey]datum, offset int64) {
	n.tick()
	if n.ledger.offset > offset {
		n.node.Reached(rare.RedisAhead)
	}
	step := n.node.Record(from.Name(), trace.Resync{Keys: len(data)})
	n.ledger.replace(data, n.ledger.data, origin{step: step, change: trace.KeyRestored})
	n.ledger.offset = offset
	n.disk.rewrite()
	for _, r := range n.repl.followers {
		r.resync()
	}
}

// abandon ends the connection of a crashed primary: what it had not sent yet is
// lost.
func (r *replication) abandon() {
	r.live = false
	r.broken()
	if r.to.ledger.offset < r.from.ledger.offset {
		r.from.node.Reached(rare.RedisUnsent)
	}
	r.out.Forget()
}

// broken notes that the replica's connection has ended.
func (r *replication) broken() {
	if r.copied {
		r.copied, r.brokenAt = false, r.to.node.Virtual()
	}
}

// PeerBack implements [sim.PeerFollower]: a replica that has missed a message
// starts a full synchronisation.
func (n *Server) PeerBack(peer *sim.Node) {
	for _, r := range slices.Clone(n.repl.followers) {
		if r.to.node == peer {
			r.resync()
		}
	}
}
