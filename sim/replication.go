package sim

import (
	"maps"
	"slices"
	"strconv"
)

// replication is how a replica follows its primary: it copies all that the
// primary has, and from then on gets the effects of each command, in order and
// late. The primary does not wait for it.
type replication struct {
	from, to *RedisNode
	link     *nodeLink
	out      Direction // of the link, from the primary to the replica
	live     bool      // the copy is under way, and effects follow it
	ended    bool      // the replica follows this primary no more
	session  int       // numbers the connections: what an old one carries is void
	crashes  int       // of the primary: what it had not sent is void
	departs  int64     // when the primary sends what it sent last
	acked    int64     // the offset of which the primary knows that the replica has it
}

// follow makes the node a replica of another, with a full synchronisation.
func (n *RedisNode) follow(primary *RedisNode) *replication {
	n.unfollow()
	r := &replication{from: primary, to: n}
	r.link, r.out = n.w.between(primary, n)
	n.leader, n.source = primary, r
	primary.followers = append(primary.followers, r)
	n.guardWrites()
	return r
}

// unfollow ends the node's replication.
func (n *RedisNode) unfollow() {
	if r := n.source; r != nil {
		r.ended = true
		r.from.followers = slices.DeleteFunc(r.from.followers, func(x *replication) bool { return x == r })
	}
	n.leader, n.source = nil, nil
	n.guardWrites()
}

func (r *replication) back() Direction { return r.out.reverse() }

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
		if !r.void(session) && !r.to.Down() {
			r.to.w.whenServed(r.to, func() { r.arrive(session, f) })
		}
	}
	w := r.from.w
	if w.cfg.Lag == (Latency{}) {
		r.link.send(r.out, arrive)
		return
	}
	crashes, underWay := r.crashes, &r.link.flows[r.out].underWay
	lag := w.draw("lag").str(r.link.flows[r.out].where).num(w.now())
	departs := max(w.now()+lag.between(int64(w.cfg.Lag.Min), int64(w.cfg.Lag.Max)), r.departs+1)
	*underWay++
	r.departs = w.queue.add(departs, func() {
		*underWay--
		if !r.void(session) && r.crashes == crashes {
			r.link.send(r.out, arrive)
		}
	})
}

// arrive does what a message says, unless the replica has turned away or has
// crashed while it was stalled.
func (r *replication) arrive(session int, f func()) {
	if !r.void(session) && !r.to.Down() {
		f()
	}
}

// apply makes a replica's keys what its primary's are.
func (n *RedisNode) apply(from *RedisNode, b batch) {
	n.tick()
	why := origin{step: n.w.record(n.id, "apply", from.id, b.String()), kind: KeyReplicated}
	l := n.ledger
	for _, e := range b.effects {
		was := l.seen(e.place)
		l.dbs[e.place.db] = true
		l.set(e.place, e.datum)
		n.put(e.place, e.datum)
		n.changed(e.place, was, l.seen(e.place), why)
	}
	l.offset = b.offset
	n.disk.write(b)
	l.plan()
	n.wakeBlocked()
}

// resync begins a new connection to the primary, and a full synchronisation. A
// replica that is down does so when it comes back.
func (r *replication) resync() {
	r.live, r.acked = false, 0
	if r.to.Down() {
		return
	}
	r.session++
	session := r.session
	r.link.send(r.back(), func() {
		if !r.void(session) && !r.from.Down() {
			r.from.w.whenServed(r.from, func() { r.copy(session) })
		}
	})
}

// copy sends the replica all that the primary has.
func (r *replication) copy(session int) {
	if r.void(session) || r.from.Down() {
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
func (n *RedisNode) receive(from *RedisNode, data map[place]datum, offset int64) {
	n.tick()
	step := n.w.record(n.id, "resync", from.id, strconv.Itoa(len(data))+" keys")
	n.ledger.replace(data, n.ledger.data, origin{step: step, kind: KeyRestored})
	n.ledger.offset = offset
	n.disk.rewrite()
}

// abandon is what becomes of a replication whose primary has crashed: what it
// had not sent yet is lost.
func (r *replication) abandon() {
	r.live = false
	r.crashes++
	r.link.forget(r.out)
}

// replicate makes the replicas of r0.
func (w *World) replicate() {
	w.family = w.nodes[:1:1]
	for i := range w.cfg.Replicas {
		w.family = append(w.family, newReplica(w, i))
	}
	w.newNodeLinks()
	w.primary.node = w.nodes[0]
	w.primary.addr = w.addHost(&w.primary, primaryIP, redisPort)
	for _, n := range w.family[1:] {
		n.follow(w.nodes[0]).live = true // both are empty
	}
	if w.cfg.Replicas == 0 && w.cfg.Persistence == PersistNone {
		return
	}
	for _, n := range w.everyNode() {
		if w.cfg.Persistence != PersistNone || slices.Contains(w.family, n) {
			n.ledger = newLedger(n)
		}
	}
}
