package sim

import (
	"slices"

	"locksim/faults"
)

// nodeLink is the path between two nodes of r0's family, over which one
// replicates to the other. It carries messages in order, each way apart.
type nodeLink struct {
	w     *World
	nodes [2]*RedisNode // the two in the order of their names
	flows [2]nodeFlow   // Up is from the first to the second
}

// nodeFlow is one direction of a nodeLink.
type nodeFlow struct {
	where    string // "r0>r0a"
	last     int64  // the instant of the latest delivery that is planned
	holds    int    // cuts in force that keep what is sent
	drops    int    // cuts in force that lose it
	held     []func()
	lost     bool // something, so that nothing passes until there is a new connection
	underWay int
}

// newNodeLinks makes the links between all nodes of a family.
func (w *World) newNodeLinks() {
	for i, a := range w.family {
		for _, b := range w.family[i+1:] {
			l := &nodeLink{w: w, nodes: [2]*RedisNode{a, b}}
			l.flows[Up].where, l.flows[Down].where = a.id+">"+b.id, b.id+">"+a.id
			w.wires = append(w.wires, l)
		}
	}
}

// between finds the link between two nodes, and the direction from a to b.
func (w *World) between(a, b *RedisNode) (*nodeLink, Direction) {
	i := slices.IndexFunc(w.wires, func(l *nodeLink) bool {
		return l.nodes == [2]*RedisNode{a, b} || l.nodes == [2]*RedisNode{b, a}
	})
	if w.wires[i].nodes[0] == a {
		return w.wires[i], Up
	}
	return w.wires[i], Down
}

// send lets f happen at the other end, after the latency of the link and after
// all that was sent before. A link that is cut keeps it until it heals, or
// loses it.
func (l *nodeLink) send(dir Direction, f func()) {
	flow := &l.flows[dir]
	switch {
	case flow.drops > 0 || flow.lost: // TCP does not go on after a gap
		flow.lost = true
	case flow.holds > 0:
		flow.held = append(flow.held, f)
	default:
		flow.underWay++
		delay := l.w.draw("net").str(flow.where).str("replication").num(l.w.now())
		at := l.w.now() + delay.between(int64(l.w.cfg.Latency.Min), int64(l.w.cfg.Latency.Max))
		flow.last = l.w.queue.add(max(at, flow.last+1, l.w.now()+1), func() {
			flow.underWay--
			f()
		})
	}
}

// cut lets a direction hold, or lose, what is sent from now on.
func (l *nodeLink) cut(dir Direction, bytes faults.Bytes) (undo func()) {
	flow := &l.flows[dir]
	count := &flow.holds
	if bytes == faults.BytesDrop {
		count = &flow.drops
	}
	*count++
	return func() {
		*count--
		if flow.holds == 0 && flow.drops == 0 {
			l.flush(dir)
		}
	}
}

// begin does nothing: what matters is told of each direction.
func (*nodeLink) begin() {}

func (l *nodeLink) ends(dir Direction) (from, to string) {
	return l.nodes[dir].id, l.nodes[1-dir].id
}

// flush sends what was held.
func (l *nodeLink) flush(dir Direction) {
	held := l.flows[dir].held
	l.flows[dir].held = nil
	for _, f := range held {
		l.send(dir, f)
	}
}

// forget loses what is held: its sender is no more.
func (l *nodeLink) forget(dir Direction) { l.flows[dir].held = nil }

// healed makes a new connection where the old one has lost something.
func (l *nodeLink) healed() {
	lost := false
	for dir := range l.flows {
		f := &l.flows[dir]
		if f.holds+f.drops > 0 {
			return
		}
		lost = lost || f.lost
	}
	if !lost {
		return
	}
	l.flows[Up].lost, l.flows[Down].lost = false, false
	for _, n := range l.nodes {
		for _, r := range slices.Clone(n.followers) {
			if r.link == l {
				r.resync()
			}
		}
	}
}

// busy reports whether something is under way, or held.
func (l *nodeLink) busy() bool {
	for dir := range l.flows {
		if l.flows[dir].underWay > 0 || len(l.flows[dir].held) > 0 {
			return true
		}
	}
	return false
}
