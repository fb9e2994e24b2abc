package sim

import (
	"fmt"
	"net"
	"slices"
	"sort"
	"strconv"
	"strings"

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
	l.p.forget(c.client)
}

// redisPort and storePort are where the nodes listen.
const (
	redisPort = 6379
	storePort = 7000
)

// addHost gives a host an address: an IP literal, since a name would send
// clients to the real DNS.
func (w *World) addHost(h host, ip string, port int) string {
	addr := net.JoinHostPort(ip, strconv.Itoa(port))
	w.hosts[addr] = h
	w.hosts[h.name()] = h
	w.hosts[net.JoinHostPort(h.name(), strconv.Itoa(port))] = h
	return addr
}

// addressOf is the address of a node by its name; a name that does not exist
// is kept, for the dialer to complain about.
func (w *World) addressOf(node string) string {
	for _, n := range w.nodes {
		if n.id == node {
			return n.addr
		}
	}
	if node == w.store.name() {
		return w.store.addr
	}
	return node
}

// Address is the address under which a node ("r0", "s0") is dialled.
func (w *World) Address(node string) (string, error) {
	if _, ok := w.hosts[node]; !ok {
		return "", w.noHost(node)
	}
	return w.addressOf(node), nil
}

// Address is the address under which a node ("r0", "s0") is dialled, for
// clients that are not go-redis. An unknown name comes back as it is, and
// fails when it is dialled.
func (p *Process) Address(node string) string { return p.w.addressOf(node) }

func (w *World) noHost(addr string) error {
	names := make([]string, 0, len(w.nodes)+1)
	for _, n := range w.nodes {
		names = append(names, n.id)
	}
	names = append(names, w.store.name())
	return fmt.Errorf("nobody listens at %q: this world has %s (each is dialled by its name or by its address)", addr, strings.Join(names, ", "))
}
