package sim

import (
	"slices"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Direction is one way of a link between a process and a server.
type Direction int

const (
	// Up is from the process to the server.
	Up Direction = iota
	// Down is from the server to the process.
	Down
)

// String is "up" or "down".
func (d Direction) String() string {
	if d == Up {
		return "up"
	}
	return "down"
}

// reverse is the other way.
func (d Direction) reverse() Direction { return Up + Down - d }

// link is the path between a process and a server. All their connections share
// its cuts and toxics; each direction has its own.
type link struct {
	w     *World
	p     *Process
	node  *Node
	where [2]string // "c0>r0" and "r0>c0"
	conns []*conn
	chain [2][]*toxics.ToxicWrapper
	cuts  int       // cuts in force, of either direction
	held  []*dialer // dials that wait for the link to heal

	dials    int    // dials that were accepted; those of one instant count once
	classes  int64  // of connections
	newest   *class // and when it was made
	newestAt int64
}

// ends are the sender and the receiver of a direction.
func (l *link) ends(dir Direction) (from, to string) {
	if dir == Up {
		return l.p.name, l.node.id
	}
	return l.node.id, l.p.name
}

// delay draws the latency of one message of a class of connections.
func (l *link) delay(dir Direction, kind string, class int64) int64 {
	d := l.w.chance.draw("net").Str(l.where[dir]).Str(kind).Num(class).Num(l.w.time.now())
	return d.Between(int64(l.w.cfg.Latency.Min), int64(l.w.cfg.Latency.Max))
}

func (l *link) bytesInFlight() int {
	n := 0
	for _, c := range l.conns {
		n += c.inFlight()
	}
	return n
}

// kill ends every connection at the end of a run, and wakes who waits there.
func (l *link) kill() {
	for _, c := range l.conns {
		c.kill()
		c.client.broken()
	}
	l.conns = nil
}

// forget drops a connection that is over.
func (l *link) forget(c *conn) {
	if i := slices.Index(l.conns, c); i >= 0 {
		l.conns = slices.Delete(l.conns, i, i+1)
	}
	c.client.p.sockets.forget(c.client)
	if i := slices.Index(l.node.conns, c.server); i >= 0 {
		l.node.conns = slices.Delete(l.node.conns, i, i+1)
	}
}
