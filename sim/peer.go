package sim

import (
	"fmt"
	"time"

	"locksim/faults"
)

// peerLink is the path between two servers. Each direction carries its messages
// in order.
type peerLink struct {
	w     *World
	nodes [2]*Node    // Up is from the first to the second
	flows [2]peerFlow // by direction
}

// peerFlow is one direction of a peerLink.
type peerFlow struct {
	where    string  // "r0>r0a"
	last     int64   // the instant of the latest planned delivery
	holds    effects // cuts in force that hold messages
	drops    effects // cuts in force that lose messages
	held     []func()
	lost     bool // a message was lost: nothing passes until there is a new connection
	underWay int
}

// Peer is the direction from one server to another of a link that faults can
// cut.
type Peer struct {
	link *peerLink
	dir  Direction
}

// Peer is the direction to another server. It panics where [Builder.Link] has
// added no link.
func (n *Node) Peer(to *Node) Peer {
	l, dir := n.w.net.between(n, to)
	if l == nil {
		panic(fmt.Sprintf("sim: no link leads from %s to %s: let Build put one there, by Builder.Link", n.id, to.id))
	}
	return Peer{l, dir}
}

// Draw begins a draw for one use of this direction: see [Draw].
func (p Peer) Draw(use string) Draw { return p.link.w.chance.draw(use).Str(p.flow().where) }

func (p Peer) flow() *peerFlow { return &p.link.flows[p.dir] }

// Send calls f at the other end, after the latency of the link and after all
// messages sent before. A link that is cut holds the message until it heals, or
// loses it; then no other passes until the link has healed, since TCP does not
// go on after a gap. A server that is down at its arrival does not get it, one
// that is stalled gets it later.
func (p Peer) Send(f func()) { p.link.send(p.dir, f) }

// SendAfter is Send after a delay of hold, in the world's time. If the sender
// has crashed by then, or valid reports false, the message is lost. It returns
// the virtual time of the departure.
func (p Peer) SendAfter(hold time.Duration, valid func() bool, f func()) (departs time.Duration) {
	flow, from := p.flow(), p.link.nodes[p.dir]
	life, t := from.lives, p.link.w.time
	flow.underWay++
	return time.Duration(t.queue.add(t.now()+int64(hold), func() {
		flow.underWay--
		if from.lives == life && !from.Down() && valid() {
			p.Send(f)
		}
	}))
}

// Whole reports whether nothing cuts this direction, and nothing that it has held or lost is left.
func (p Peer) Whole() bool {
	f := p.flow()
	return len(f.holds) == 0 && len(f.drops) == 0 && len(f.held) == 0 && !f.lost
}

// Forget drops the messages that the link holds: their sender has ended.
func (p Peer) Forget() { p.flow().held = nil }

func (l *peerLink) send(dir Direction, f func()) {
	flow := &l.flows[dir]
	switch {
	case len(flow.drops) > 0 || flow.lost:
		flow.drops.felt()
		flow.lost = true
	case len(flow.holds) > 0:
		flow.holds.felt()
		flow.held = append(flow.held, f)
	default:
		flow.underWay++
		now, latency := l.w.time.now(), l.w.cfg.Latency
		delay := l.w.chance.draw("net").Str(flow.where).Str("replication").Num(now).Between(int64(latency.Min),
			int64(latency.Max))
		to := l.nodes[dir.reverse()]
		flow.last = l.w.time.queue.add(max(now+delay, flow.last+1, now+1), func() {
			flow.underWay--
			if to.Down() {
				return
			}
			l.w.force.whenServed(to, ofPeer, func() {
				if !to.Down() {
					f()
				}
			})
		})
	}
}

// cut makes a direction hold, or lose, what is sent from now on.
func (l *peerLink) cut(dir Direction, bytes faults.Bytes, felt func()) (undo func()) {
	for _, n := range l.nodes {
		n.disturb()
	}
	flow := &l.flows[dir]
	cuts := &flow.holds
	if bytes == faults.BytesDrop {
		cuts = &flow.drops
	}
	end := cuts.begin(felt)
	return func() {
		end()
		if len(flow.holds) == 0 && len(flow.drops) == 0 {
			l.flush(dir)
		}
	}
}

// begin has nothing to do: cut has the state of each direction.
func (l *peerLink) begin(func()) (heal func()) { return l.healed }

func (l *peerLink) ends(dir Direction) (from, to string) {
	return l.nodes[dir].id, l.nodes[dir.reverse()].id
}

// flush sends the held messages.
func (l *peerLink) flush(dir Direction) {
	held := l.flows[dir].held
	l.flows[dir].held = nil
	for _, f := range held {
		l.send(dir, f)
	}
}

// healed starts a new connection if the old one has lost a message, and
// notifies both ends.
func (l *peerLink) healed() {
	lost := false
	for dir := range l.flows {
		f := &l.flows[dir]
		if len(f.holds)+len(f.drops) > 0 {
			return
		}
		lost = lost || f.lost
	}
	if !lost {
		return
	}
	l.flows[Up].lost, l.flows[Down].lost = false, false
	for dir, n := range l.nodes {
		if f, ok := n.server.(PeerFollower); ok {
			f.PeerBack(l.nodes[1-dir])
		}
	}
}

// busy reports whether a message is under way, or held.
func (l *peerLink) busy() bool {
	for dir := range l.flows {
		if l.flows[dir].underWay > 0 || len(l.flows[dir].held) > 0 {
			return true
		}
	}
	return false
}
