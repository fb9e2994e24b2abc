package redis

import (
	"maps"
	"slices"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// role is what a server is among those of its family.
type role struct {
	server    *Server
	leader    *Server      // whom it is a replica of, nil for a primary
	source    *replication // from there, unless the server is down
	followers []*replication
}

// replication is how a replica follows its primary: it copies all that the
// primary has, and from then on gets the effects of each command, in order and
// late. The primary does not wait for it.
type replication struct {
	from, to *Server
	out      sim.Peer      // the way from the primary to the replica
	back     sim.Peer      // and the other way
	live     bool          // the copy is under way, and effects follow it
	ended    bool          // the replica follows this primary no more
	session  int           // numbers the connections: what an old one carries is void
	departs  time.Duration // when the primary sends what it sent last
	acked    int64         // the offset of which the primary knows that the replica has it
}

// follow makes the node a replica of another, with a full synchronisation.
func (n *Server) follow(primary *Server) *replication {
	n.unfollow()
	r := &replication{from: primary, to: n, out: primary.node.Peer(n.node), back: n.node.Peer(primary.node)}
	n.repl.leader, n.repl.source = primary, r
	primary.repl.followers = append(primary.repl.followers, r)
	n.guard.set()
	return r
}

// unfollow ends the node's replication.
func (n *Server) unfollow() {
	if r := n.repl.source; r != nil {
		r.ended = true
		followers := &r.from.repl.followers
		*followers = slices.DeleteFunc(*followers, func(x *replication) bool { return x == r })
	}
	n.repl.leader, n.repl.source = nil, nil
	n.guard.set()
}

// void reports whether what an older connection carries comes too late.
func (r *replication) void(session int) bool { return r.ended || r.session != session }

// feed sends effects to the replica.
func (r *replication) feed(b batch) {
	if r.live {
		r.send(func() { r.to.apply(r.from, b) })
	}
}

// send lets f happen at the replica, in order. The primary keeps it for the lag
// first: what it keeps when it crashes is lost.
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

// apply makes a replica's keys what its primary's are.
func (n *Server) apply(from *Server, b batch) {
	n.tick()
	why := origin{step: n.node.Record(from.Name(), trace.Apply{Effects: b}), change: trace.KeyReplicated}
	l := n.ledger
	for _, e := range b.effects {
		was := l.seen(e.place)
		l.dbs[e.place.db] = true
		l.set(e.place, e.datum)
		n.data.put(e.place, e.datum)
		n.changed(e.place, was, l.seen(e.place), why)
	}
	l.offset = b.offset
	n.disk.write(b)
	l.plan()
	n.blocked.wake()
}

// resync begins a new connection to the primary, and a full synchronisation. A
// replica that is down does so when it comes back.
func (r *replication) resync() {
	r.live, r.acked = false, 0
	if r.to.node.Down() {
		return
	}
	r.session++
	session := r.session
	r.back.Send(func() { r.copy(session) })
}

// copy sends the replica all that the primary has.
func (r *replication) copy(session int) {
	if r.void(session) {
		return
	}
	r.from.tick()
	data, offset := maps.Clone(r.from.ledger.data), r.from.ledger.offset
	r.live = true
	r.send(func() {
		r.to.receive(r.from, data, offset)
		r.acknowledge()
	})
}

// receive replaces all that a replica has.
func (n *Server) receive(from *Server, data map[place]datum, offset int64) {
	n.tick()
	step := n.node.Record(from.Name(), trace.Resync{Keys: len(data)})
	n.ledger.replace(data, n.ledger.data, origin{step: step, change: trace.KeyRestored})
	n.ledger.offset = offset
	n.disk.rewrite()
}

// abandon is what becomes of a replication whose primary has crashed: what it
// had not sent yet is lost.
func (r *replication) abandon() {
	r.live = false
	r.out.Forget()
}

// PeerBack implements [sim.PeerFollower]: a replica has missed something, and takes
// over all that there is.
func (n *Server) PeerBack(peer *sim.Node) {
	for _, r := range slices.Clone(n.repl.followers) {
		if r.to.node == peer {
			r.resync()
		}
	}
}
