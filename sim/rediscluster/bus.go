package rediscluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/sim/rare"
)

// The intervals of the bus, as in Redis 7.0. A node looks at the others 100 ms after it has done so the last time, so
// that its period is longer by its work and by what the system is late: 101 ms on a loaded machine (six nodes, 94 s).
const (
	cronPeriod    = cronPause + (leastLate+mostLate)/2 // on average
	cronPause     = 100 * time.Millisecond
	leastLate     = 200 * time.Microsecond
	mostLate      = 1800 * time.Microsecond
	writableDelay = ms(2000)
	leastRejoin   = ms(500)
	mostRejoin    = ms(5000)
)

// kind is that of a message.
type kind int

const (
	ping kind = iota
	pong
	failed
	authRequest
	authAck
	updated
	failoverStart
)

// message is what one node sends another. Each has the sender's view of itself.
type message struct {
	kind        kind
	epoch       uint64
	configEpoch uint64 // of the sender, or of its primary
	primary     int    // whom the sender replicates, none for a primary
	slots       *slotSet
	offset      int64
	paused      bool // the sender, a primary, holds writes back
	forced      bool // the vote is asked for by an operator
	gossip      []gossip
	about       int // the node that has failed, or whose slots these are
	update      *slotSet
	updateEpoch uint64
}

// gossip is what the sender of a message knows of another node.
type gossip struct {
	about   int
	failing bool
	pong    ms // in whole seconds
}

// header is a message without its content.
func (s *Server) header(k kind) *message {
	me := s.me()
	m := &message{kind: k, epoch: s.epoch, configEpoch: me.configEpoch, primary: me.primary, slots: s.setOf(me),
		offset: s.Offset(), paused: !me.slave && s.manual.end != 0}
	if p := s.primaryOf(me); me.slave && p != nil {
		m.configEpoch, m.slots = p.configEpoch, s.setOf(p)
	}
	return m
}

// send calls f at another node, after the latency of the link.
func (s *Server) send(to *Server, f func()) { s.node.Peer(to.node).Send(f) }

// tell sends a message on the connection to a node.
func (s *Server) tell(p *peer, m *message) {
	if !p.linked {
		return
	}
	to := p.of
	s.send(to, func() { to.receive(s.index, m, nil) })
}

// ping pings a node, which answers on the same connection.
func (s *Server) ping(p *peer) {
	p.pingSent = s.now()
	m := s.header(ping)
	m.gossip = s.gossipFor(p)
	to, life, session := p.of, s.life, p.session
	s.send(to, func() {
		to.receive(s.index, m, func(answer *message) {
			to.send(s, func() {
				if s.life == life && p.session == session && p.linked {
					s.receive(to.index, answer, nil)
				}
			})
		})
	})
}

// draw is a random number below limit.
func (s *Server) draw(use string, n int, limit int) int {
	d := s.node.Draw(use).Num(int64(s.node.Virtual())).Num(int64(s.iteration)).Num(int64(n))
	return int(d.Between(0, int64(limit)-1))
}

// bucketNodes puts the nodes into the buckets of a hash table, which each process of Redis has, with a hash of its own.
func (s *Server) bucketNodes() {
	size := 4
	for size < len(s.view) {
		size *= 2
	}
	buckets := make([][]int, size)
	for i := range s.view {
		at := s.node.Draw("bucket").Num(int64(s.life)).Num(int64(i)).Between(0, int64(size)-1)
		buckets[at] = append(buckets[at], i)
	}
	s.buckets = slices.DeleteFunc(buckets, func(b []int) bool { return len(b) == 0 })
}

// pick is a node by chance, itself too: Redis draws a bucket that is not empty, and then one in it, so that nodes which
// share a bucket are drawn less often.
func (s *Server) pick(use string, n int) int {
	b := s.buckets[s.draw(use, n, len(s.buckets))]
	if len(b) == 1 {
		return b[0]
	}
	return b[s.draw(use+" in a bucket", n, len(b))]
}

// gossipFor are three nodes by chance, and as many that this node takes for failing as it did at its latest tick.
func (s *Server) gossipFor(p *peer) (out []gossip) {
	wanted := min(max(len(s.view)/10, 3), len(s.view)-2)
	tell := func(x *peer) {
		out = append(out, gossip{indexOf(x), x.pfail || x.fail, x.pong / 1000 * 1000})
	}
	chosen := make([]bool, len(s.view))
	for try := 0; try < 3*wanted && len(out) < wanted; try++ {
		i := s.pick("gossip", indexOf(p)*100+try)
		x := &s.view[i]
		if i == s.index || x == p || chosen[i] || x.pfail || !x.linked && x.count == 0 {
			continue
		}
		chosen[i] = true
		tell(x)
	}
	failing := s.failing
	for i := range s.view {
		if x := &s.view[i]; x.pfail && x != p && failing > 0 {
			failing--
			tell(x)
		}
	}
	return out
}

// unlink ends the connection to a node.
func (s *Server) unlink(i int) {
	p := &s.view[i]
	p.linked = false
	p.session++
}

// cron is what a node does at each of its ticks.
func (s *Server) cron() {
	s.iteration++
	attempted := make([]bool, len(s.view))
	s.failing = 0
	for i := range s.view {
		p := &s.view[i]
		if p.pfail {
			s.failing++
		}
		if i != s.index && !p.linked {
			attempted[i] = true
			s.connect(p)
		}
	}
	if s.iteration%10 == 0 {
		if p := s.oldest(); p != nil {
			s.ping(p)
		}
	}
	for i := range s.view {
		if i != s.index {
			s.check(&s.view[i], attempted[i])
		}
	}
	s.manualTimeout()
	if s.me().slave {
		s.manualStep()
		s.elect()
	}
	if s.todo.state || !s.ok {
		s.updateState()
	}
	s.beforeSleep()
}

// connect connects to a node. One whose process has ended refuses, at each attempt.
func (s *Server) connect(p *peer) {
	if p.of.killed {
		return
	}
	p.linked, p.linkedAt = true, s.now()
	before := p.pingSent
	if s.ping(p); before != 0 {
		p.pingSent = before
	}
}

// oldest is the one of five random nodes that it has not heard for longest.
func (s *Server) oldest() (best *peer) {
	for try := range 5 {
		i := s.pick("ping", try)
		p := &s.view[i]
		if i != s.index && p.linked && p.pingSent == 0 && (best == nil || p.pong < best.pong) {
			best = p
		}
	}
	return best
}

// check pings a node that was silent, and looks whether it is for too long.
func (s *Server) check(p *peer, attempted bool) {
	now, timeout := s.now(), s.timeout()
	if p.linked && now-p.linkedAt > timeout && p.pingSent != 0 && now-p.pingSent > timeout/2 && now-p.data > timeout/2 {
		s.unlink(indexOf(p))
	}
	if (p.linked || attempted) && p.pingSent == 0 && now-p.pong > timeout/2 {
		s.ping(p)
		return
	}
	if m := &s.manual; m.end != 0 && !s.me().slave && m.replica == indexOf(p) && p.linked {
		s.ping(p)
		return
	}
	if p.pingSent == 0 || min(now-p.pingSent, now-p.data) <= timeout || p.pfail || p.fail {
		return
	}
	p.pfail, s.todo.state = true, true
	s.note("fail?", p.of.Name())
}

// receive takes a message. reply sends an answer to a ping on its connection.
func (s *Server) receive(from int, m *message, reply func(*message)) {
	p, now := &s.view[from], s.now()
	p.data = now
	s.epoch = max(s.epoch, m.epoch)
	p.configEpoch = max(p.configEpoch, m.configEpoch)
	p.offset = m.offset
	if f := &s.manual; f.end != 0 && s.me().slave && s.me().primary == from && m.paused && !f.knows {
		f.knows, f.offset = true, m.offset
		s.todo.manual = true
	}
	switch m.kind {
	case ping:
		answer := s.header(pong)
		answer.gossip = s.gossipFor(p)
		if reply != nil {
			reply(answer)
		}
		s.learn(p, m)
	case pong:
		p.pong, p.pingSent = now, 0
		switch {
		case p.pfail:
			p.pfail, s.todo.state = false, true
			s.note("hears", p.of.Name())
		case p.fail:
			s.clearFailure(p)
		}
		s.learn(p, m)
	case failed:
		if x := &s.view[m.about]; m.about != s.index && !x.fail {
			x.fail, x.pfail, x.failedAt = true, false, now
			s.todo.state = true
			s.note("told-fail", x.of.Name())
		}
	case authRequest:
		s.vote(p, m)
	case authAck:
		if !p.slave && p.count > 0 && m.epoch >= s.election.epoch {
			s.election.votes++
			s.todo.failover = true
		}
	case failoverStart:
		if p.primary == s.index && p.slave {
			s.handOver(p)
		}
	case updated:
		s.update(m)
	}
	s.beforeSleep()
}

// broadcast is a pong that no ping has asked for: it does not count as an answer.
func (s *Server) broadcast(to func(p *peer) bool) {
	for i := range s.view {
		if p := &s.view[i]; i != s.index && to(p) {
			m := s.header(ping)
			m.gossip = s.gossipFor(p)
			s.tell(p, m)
		}
	}
}

func everyone(*peer) bool { return true }

// beforeSleep does what messages have left to do.
func (s *Server) beforeSleep() {
	t := s.todo
	s.todo = todo{}
	switch {
	case t.manual && s.me().slave:
		s.manualStep()
		s.elect()
	case t.failover:
		s.elect()
	}
	if t.state || s.todo.state {
		s.todo.state = false
		s.updateState()
	}
}

// learn takes what a ping or a pong says of its sender, and of others.
func (s *Server) learn(p *peer, m *message) {
	s.learnRole(p, m)
	primary := s.primaryOf(p)
	if primary != nil {
		if set := s.setOf(primary); set != m.slots && *set != *m.slots {
			if !p.slave {
				s.claim(p, m.configEpoch, m.slots)
			}
			s.correct(p, m)
		}
	}
	if me := s.me(); !me.slave && !p.slave && m.configEpoch == me.configEpoch && p.of.id > s.id {
		s.epoch++
		me.configEpoch = s.epoch
		s.node.Reached(rare.ClusterCollision)
		s.note("collision", fmt.Sprintf("%s, and takes epoch %d", p.of.Name(), s.epoch))
	}
	for _, g := range m.gossip {
		s.hear(p, g)
	}
}

func (s *Server) learnRole(p *peer, m *message) {
	if m.primary == none {
		s.setPrimary(p)
		return
	}
	if !p.slave {
		for slot, owner := range s.slots {
			if int(owner) == indexOf(p) {
				s.assign(slot, none)
			}
		}
		p.slave, s.todo.state = true, true
	}
	p.primary = m.primary
}

// setPrimary takes a node for a primary.
func (s *Server) setPrimary(p *peer) {
	if p.slave {
		p.slave, p.primary = false, none
		s.todo.state = true
	}
}

// correct tells the sender of a message of slots that another primary has by a greater epoch.
func (s *Server) correct(p *peer, m *message) {
	for slot, owner := range s.slots {
		if !m.slots.has(slot) || owner == none || int(owner) == indexOf(p) {
			continue
		}
		if o := &s.view[owner]; o.configEpoch > m.configEpoch {
			s.node.Reached(rare.ClusterUpdate)
			u := s.header(updated)
			u.about, u.update, u.updateEpoch = int(owner), s.setOf(o), o.configEpoch
			s.tell(p, u)
			return
		}
	}
}

// update takes the slots of a node of which another one tells.
func (s *Server) update(m *message) {
	n := &s.view[m.about]
	if n.configEpoch >= m.updateEpoch {
		return
	}
	s.setPrimary(n)
	n.configEpoch = m.updateEpoch
	s.claim(n, m.updateEpoch, m.update)
}

// claim gives a primary the slots that it says it has, where its epoch is greater than that of their owner. A node that
// loses all of its slots follows the new owner.
func (s *Server) claim(p *peer, epoch uint64, claimed *slotSet) {
	if p.of == s {
		return
	}
	current, gone := s.primaryOf(s.me()), false
	var lost []int
	for slot := range s.slots {
		owner := int(s.slots[slot])
		if !claimed.has(slot) || owner == indexOf(p) {
			continue
		}
		if _, importing := s.importing[slot]; importing {
			continue
		}
		if owner != none && s.view[owner].configEpoch >= epoch {
			continue
		}
		if owner == s.index {
			lost = append(lost, slot)
		}
		gone = gone || current != nil && owner == indexOf(current)
		s.assign(slot, indexOf(p))
		s.todo.state = true
	}
	switch {
	case gone && current.count == 0:
		s.followNode(p)
	case len(lost) > 0:
		s.dropKeys(lost)
	}
}

// dropKeys deletes the keys of slots that the node has lost.
func (s *Server) dropKeys(slots []int) {
	var keys []string
	for _, k := range s.KeyNames() {
		for _, slot := range slots {
			if Slot(k) == slot {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) > 0 {
		s.Drop("", "drops "+strings.Join(keys, ", ")+", of a slot that it has lost", keys...)
	}
}

// followNode makes the node a replica of another one.
func (s *Server) followNode(p *peer) {
	me := s.me()
	if me.slave, me.primary = true, indexOf(p); s.Leader() == nil {
		clear(s.migrating)
		clear(s.importing)
		s.node.Reached(rare.ClusterDemoted)
	}
	s.resetManual()
	s.CopyFrom(p.of.Server)
	s.todo.state = true
}

// hear takes what the sender of a message says of another node.
func (s *Server) hear(from *peer, g gossip) {
	x := &s.view[g.about]
	if g.about == s.index {
		return
	}
	if !from.slave {
		if g.failing {
			x.reports[indexOf(from)] = s.now()
			s.judge(x)
		} else {
			x.reports[indexOf(from)] = 0
		}
	}
	if !g.failing && x.pingSent == 0 && s.reportsOf(x) == 0 && g.pong <= s.now()+500 && g.pong > x.pong {
		x.pong = g.pong
	}
}

// reportsOf is the number of nodes that have reported another one failing lately.
func (s *Server) reportsOf(x *peer) (n int) {
	for i, at := range x.reports {
		switch {
		case at == 0:
		case s.now()-at > 2*s.timeout():
			x.reports[i] = 0
		default:
			n++
		}
	}
	return n
}

func (s *Server) majority() int { return s.size/2 + 1 }

// judge takes a node for failed if a majority of the primaries takes it for failing.
func (s *Server) judge(x *peer) {
	if !x.pfail {
		return
	}
	votes := s.reportsOf(x)
	if !s.me().slave {
		votes++
	}
	if votes < s.majority() {
		return
	}
	x.pfail, x.fail, x.failedAt = false, true, s.now()
	s.todo.state = true
	s.note("fail", x.of.Name())
	for i := range s.view {
		if p := &s.view[i]; i != s.index {
			m := s.header(failed)
			m.about = indexOf(x)
			s.tell(p, m)
		}
	}
}

// clearFailure takes a node that answers again for well: a replica, a primary without slots, or one that was not
// replaced for a while.
func (s *Server) clearFailure(p *peer) {
	if p.slave || p.count == 0 || s.now()-p.failedAt > 2*s.timeout() {
		p.fail, s.todo.state = false, true
		s.note("well", p.of.Name())
	}
}

// serves decides whether the node should serve: all slots have an owner that has not failed, and a majority of the
// primaries is heard. It says why not.
func (s *Server) serves() (ok bool, why string) {
	ok, why = true, "a slot has no owner that works"
	reached, covered := 0, 0
	s.size = 0
	for i := range s.view {
		p := &s.view[i]
		if covered += p.count; p.slave || p.count == 0 {
			continue
		}
		s.size++
		if !p.pfail && !p.fail {
			reached++
		}
		ok = ok && !p.fail
	}
	if ok = ok && covered == Slots; reached < s.majority() {
		s.minorityAt = s.now()
		return false, fmt.Sprintf("it hears %d of %d primaries", reached, s.size)
	}
	return ok, why
}

// updateState takes the state over, after a while where it was in a minority.
func (s *Server) updateState() {
	now := s.now()
	if s.begunAt == 0 {
		s.begunAt = now
	}
	if !s.me().slave && !s.ok && now-s.begunAt < writableDelay {
		s.todo.state = false
		return
	}
	ok, why := s.serves()
	if ok == s.ok {
		return
	}
	if rejoin := min(max(s.timeout(), leastRejoin), mostRejoin); ok && !s.me().slave && now-s.minorityAt < rejoin {
		s.node.Reached(rare.ClusterRejoin)
		return
	}
	if s.ok = ok; ok {
		s.note("up", "")
	} else {
		s.note("down", why)
	}
}
