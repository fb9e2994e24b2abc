package sim

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"locksim/sim/trace"
)

// host can be dialled: a server, or a name that resolves to one.
type host interface {
	name() string
	address() string
	// resolve is the server that a process reaches; "" stands for a fault.
	resolve(process string) *Node
}

// network has the hosts, their addresses, and the links.
type network struct {
	greeted Greeted // a server of a kind that is greeted early; nil for none
	w       *World
	nodes   []*Node         // in the order in which they were built
	hosts   map[string]host // by name, by address, and by name with port
	links   map[string]*link
	peers   []*peerLink // between servers
}

func newNetwork(w *World) *network {
	return &network{w: w, hosts: map[string]host{}, links: map[string]*link{}}
}

// add gives a host an address: an IP literal, since clients would look a name
// up in the real DNS.
func (t *network) add(h host, ip net.IP, port int) string {
	addr := net.JoinHostPort(ip.String(), strconv.Itoa(port))
	t.hosts[addr] = h
	t.hosts[h.name()] = h
	t.hosts[net.JoinHostPort(h.name(), strconv.Itoa(port))] = h
	return addr
}

// node finds a server by its name, or by a name that resolves to one.
func (t *network) node(name string) (*Node, error) {
	if h, ok := t.hosts[name]; ok {
		return h.resolve(""), nil
	}
	return nil, t.unknownHost(name)
}

// names are those of all servers.
func (t *network) names() []string {
	names := make([]string, len(t.nodes))
	for i, n := range t.nodes {
		names[i] = n.id
	}
	return names
}

func (t *network) unknownHost(addr string) error {
	if len(t.nodes) == 0 {
		return fmt.Errorf("no server listens at %q: this world has no servers: give it some in Config.Servers", addr)
	}
	return fmt.Errorf("no server listens at %q: this world has %s (each is dialled by its name or by its address)", addr,
		strings.Join(t.names(), ", "))
}

// present are the names, with each alias replaced by the server that it
// resolves to at present.
func (t *network) present(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if h, ok := t.hosts[name]; ok {
			out[i] = h.resolve("").id
		}
	}
	return out
}

// known returns an error for a name that neither a process nor a server has.
func (t *network) known(names ...string) error {
	for _, name := range names {
		if _, isHost := t.hosts[name]; !isHost && t.w.procs.byName[name] == nil {
			return fmt.Errorf("there is nothing named %q in this world", name)
		}
	}
	return nil
}

// link finds the link between a process and a server.
func (t *network) link(p *Process, n *Node) *link {
	key := p.name + "-" + n.id
	l := t.links[key]
	if l == nil {
		l = &link{w: t.w, p: p, node: n, where: [2]string{p.name + ">" + n.id, n.id + ">" + p.name}}
		t.links[key] = l
	}
	return l
}

// sorted are the links in the order of their names.
func (t *network) sorted() []*link {
	names := make([]string, 0, len(t.links))
	for name := range t.links {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]*link, len(names))
	for i, name := range names {
		out[i] = t.links[name]
	}
	return out
}

// complete adds the links that have not been used yet, so that a fault finds
// them all.
func (t *network) complete() {
	for _, p := range t.w.procs.byName {
		for _, n := range t.nodes {
			t.link(p, n)
		}
	}
}

// busy reports whether anything is under way.
func (t *network) busy() bool {
	for _, l := range t.peers {
		if l.busy() {
			return true
		}
	}
	for _, l := range t.links {
		if l.bytesInFlight() > 0 {
			return true
		}
	}
	return false
}

func (t *network) flights() []trace.Flight {
	var out []trace.Flight
	for _, l := range t.sorted() {
		for _, dir := range []Direction{Up, Down} {
			f := trace.Flight{}
			f.From, f.To = l.ends(dir)
			for _, c := range l.conns {
				f.Bytes += c.flows[dir].bytes
			}
			if f.Bytes > 0 {
				out = append(out, f)
			}
		}
	}
	return out
}

// between finds the link between two servers, and the direction from a to b.
func (t *network) between(a, b *Node) (*peerLink, Direction) {
	for _, l := range t.peers {
		switch l.nodes {
		case [2]*Node{a, b}:
			return l, Up
		case [2]*Node{b, a}:
			return l, Down
		}
	}
	return nil, Up
}

// alias is a name that resolves to a server, and may resolve to another one
// later.
type alias struct {
	id, addr string
	target   func(process string) *Node
	crashed  *Node // the server that has crashed under this name, and was not restarted under it
}

func (a *alias) name() string                 { return a.id }
func (a *alias) address() string              { return a.addr }
func (a *alias) resolve(process string) *Node { return a.target(process) }

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
// its cuts, and the toxics of each direction.
type link struct {
	w     *World
	p     *Process
	node  *Node
	where [2]string // "c0>r0" and "r0>c0"
	conns []*conn
	chain [2][]toxicOn
	cuts  effects   // in force, of either direction
	held  []*dialer // dials that wait for the link to heal

	dials    int    // accepted dials; those of one instant count once
	classes  int64  // of connections
	newest   *class // created at newestAt
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

// kill ends every connection at the end of a run, and wakes the goroutines that
// wait on it.
func (l *link) kill() {
	for _, c := range l.conns {
		c.kill()
		c.client.broken()
	}
	l.conns = nil
}

// forget drops a connection that is over.
func (l *link) remove(c *conn) {
	if i := slices.Index(l.conns, c); i >= 0 {
		l.conns = slices.Delete(l.conns, i, i+1)
	}
	c.client.p.sockets.remove(c.client)
	if i := slices.Index(l.node.conns, c.server); i >= 0 {
		l.node.conns = slices.Delete(l.node.conns, i, i+1)
	}
}
