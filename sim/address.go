package sim

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Primary is a name that is dialled like a node's, with an address of its own:
// it leads to r0 until [World.Promote] lets it lead to a replica. It is what a
// Sentinel, a DNS name or a floating address does for clients in production.
// Connections that are open stay where they are.
const Primary = "primary"

// redisPort and storePort are where the nodes listen, primaryIP is behind the
// name that moves.
const (
	redisPort = 6379
	storePort = 7000
	primaryIP = "10.0.0.5"
)

// primary is who stands behind the name [Primary]. Clients who have not been
// told of a failover are still led to the node before it.
type primary struct {
	addr  string
	node  *RedisNode
	stale map[string]*RedisNode // by the name of a process
}

func (*primary) name() string { return Primary }

// accept is never called: a dial goes to the node that the name leads to.
func (*primary) accept(*conn) session { return nil }

// leads is the host that a process gets to by the name of h.
func (w *World) leads(p *Process, h host) host {
	if h != host(&w.primary) {
		return h
	}
	if n := w.primary.stale[p.name]; n != nil {
		return n
	}
	return w.primary.node
}

// PrimaryNode is the node that the name [Primary] leads to, for those who have
// been told of the last failover.
func (w *World) PrimaryNode() *RedisNode { return w.primary.node }

// machines puts the name of the present primary in the place of [Primary].
func (w *World) machines(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if name == Primary {
			out[i] = w.primary.node.id
		}
	}
	return out
}

// addHost gives a host an address: an IP literal, since a name would send
// clients to the real DNS.
func (w *World) addHost(h host, ip string, port int) string {
	addr := net.JoinHostPort(ip, strconv.Itoa(port))
	w.hosts[addr] = h
	w.hosts[h.name()] = h
	w.hosts[net.JoinHostPort(h.name(), strconv.Itoa(port))] = h
	return addr
}

// everyNode is every Redis node, those of r0's family first.
func (w *World) everyNode() []*RedisNode {
	return append(append([]*RedisNode(nil), w.family...), w.nodes[1:]...)
}

func (w *World) nodeNames() []string {
	var names []string
	for _, n := range w.everyNode() {
		names = append(names, n.id)
	}
	return names
}

// addressOf is the address of a node by its name; a name that does not exist
// is kept, for the dialer to complain about.
func (w *World) addressOf(node string) string {
	switch h := w.hosts[node].(type) {
	case *RedisNode:
		return h.addr
	case *Store:
		return h.addr
	case *primary:
		return h.addr
	}
	return node
}

// Address is the address under which a node ("r0", "s0", "primary") is dialled.
func (w *World) Address(node string) (string, error) {
	if _, ok := w.hosts[node]; !ok {
		return "", w.noHost(node)
	}
	return w.addressOf(node), nil
}

// Address is the address under which a node ("r0", "s0", "primary") is dialled,
// for clients that are not go-redis. An unknown name comes back as it is, and
// fails when it is dialled.
func (p *Process) Address(node string) string { return p.w.addressOf(node) }

func (w *World) noHost(addr string) error {
	names := append(w.nodeNames(), w.store.name())
	return fmt.Errorf("nobody listens at %q: this world has %s (each is dialled by its name or by its address)", addr, strings.Join(names, ", "))
}
