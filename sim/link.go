package sim

import (
	"fmt"
	"slices"
	"sort"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Direction is one way of a link between a process and a node.
type Direction int

const (
	// Up is from the process to the node.
	Up Direction = iota
	// Down is from the node to the process.
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

// host is a machine that accepts connections.
type host interface {
	name() string
	// accept takes a new connection; nil refuses it.
	accept(c *conn) session
}

// session is the server's end of one connection. Its methods run on the
// world's goroutine; they answer through [conn.send].
type session interface {
	data(b []byte)
	eof()
	reset()
}

// link is the path between a process and a node. All their connections share
// its cuts and toxics; each direction has its own.
type link struct {
	w     *World
	p     *Process
	host  host
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

// linkOf finds the link between a process and a host.
func (w *World) linkOf(p *Process, h host) *link {
	key := p.name + "-" + h.name()
	l := w.links[key]
	if l == nil {
		l = &link{w: w, p: p, host: h, where: [2]string{p.name + ">" + h.name(), h.name() + ">" + p.name}}
		w.links[key] = l
	}
	return l
}

// sortedLinks are the links in the order of their names.
func (w *World) sortedLinks() []*link {
	names := make([]string, 0, len(w.links))
	for name := range w.links {
		names = append(names, name)
	}
	sort.Strings(names)
	out := make([]*link, len(names))
	for i, name := range names {
		out[i] = w.links[name]
	}
	return out
}

// ends are the sender and the receiver of a direction.
func (l *link) ends(dir Direction) (from, to string) {
	if dir == Up {
		return l.p.name, l.host.name()
	}
	return l.host.name(), l.p.name
}

// delay draws the latency of one message of a class of connections.
func (l *link) delay(dir Direction, kind string, class int64) int64 {
	d := l.w.draw("net").str(l.where[dir]).str(kind).num(class).num(l.w.now())
	return d.between(int64(l.w.cfg.Latency.Min), int64(l.w.cfg.Latency.Max))
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

// Reset breaks every connection between a process and a node, as a machine on
// the way does that has lost its state: both ends get ECONNRESET, and what was
// unread or under way is gone. New connections can be opened at once. A link
// without connections is left as it is.
func (w *World) Reset(process, node string) error {
	p, err := w.Process(process)
	if err != nil {
		return fmt.Errorf("reset %s to %s: %w", process, node, err)
	}
	h, ok := w.hosts[node]
	if !ok {
		return fmt.Errorf("reset %s to %s: %w", process, node, w.noHost(node))
	}
	h = w.leads(p, h)
	for _, c := range slices.Clone(w.linkOf(p, h).conns) {
		c.reset()
	}
	return nil
}

// forget drops a connection that is over.
func (l *link) forget(c *conn) {
	if i := slices.Index(l.conns, c); i >= 0 {
		l.conns = slices.Delete(l.conns, i, i+1)
	}
	c.client.p.forget(c.client)
}
