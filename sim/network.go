package sim

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"locksim/sim/trace"
)

// host is what can be dialled: a server, or a name that leads to one.
type host interface {
	name() string
	address() string
	// leads is the server that a process gets to; "" is for faults.
	leads(process string) *Node
}

// network is who can be dialled, under which address, and over which links.
type network struct {
	w     *World
	nodes []*Node         // in the order in which they were built
	hosts map[string]host // by name, by address, and by name with port
	links map[string]*link
	peers []*peerLink // between servers
}

func newNetwork(w *World) *network {
	return &network{w: w, hosts: map[string]host{}, links: map[string]*link{}}
}

// add gives a host an address: an IP literal, since a name would send clients to
// the real DNS.
func (t *network) add(h host, ip net.IP, port int) string {
	addr := net.JoinHostPort(ip.String(), strconv.Itoa(port))
	t.hosts[addr] = h
	t.hosts[h.name()] = h
	t.hosts[net.JoinHostPort(h.name(), strconv.Itoa(port))] = h
	return addr
}

// node finds a server by its name, or by a name that leads to one.
func (t *network) node(name string) (*Node, error) {
	if h, ok := t.hosts[name]; ok {
		return h.leads(""), nil
	}
	return nil, t.nobody(name)
}

// names are those of all servers.
func (t *network) names() []string {
	names := make([]string, len(t.nodes))
	for i, n := range t.nodes {
		names[i] = n.id
	}
	return names
}

func (t *network) nobody(addr string) error {
	if len(t.nodes) == 0 {
		return fmt.Errorf("nobody listens at %q: this world has no servers: give it some in Config.Servers", addr)
	}
	return fmt.Errorf("nobody listens at %q: this world has %s (each is dialled by its name or by its address)", addr, strings.Join(t.names(), ", "))
}

// present are names, with that of the server to which it leads at present in
// place of one that moves.
func (t *network) present(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if h, ok := t.hosts[name]; ok {
			out[i] = h.leads("").id
		}
	}
	return out
}

// known complains about a name that neither a process nor a server has.
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

// complete makes the links that have not been used yet, so that a fault finds
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

// alias is a name that leads to a server, and may lead to another one later.
type alias struct {
	id, addr string
	where    func(process string) *Node
}

func (a *alias) name() string               { return a.id }
func (a *alias) address() string            { return a.addr }
func (a *alias) leads(process string) *Node { return a.where(process) }
