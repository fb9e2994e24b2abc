//go:build linux

package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"reflect"
	"slices"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"

	"locksim/faults"
	"locksim/scenarios/subject"
)

// loopback is where everything listens, on a port that is free.
const loopback = "127.0.0.1:0"

// toxicTypes are the toxics that faults use, by the names under which Toxiproxy knows them. It makes new ones by the
// name, and fills them from JSON.
var toxicTypes = map[string]toxics.Toxic{
	"locksim-hold": new(faults.Hold), "locksim-drop": new(faults.Drop), "locksim-lose": new(faults.Lose),
	"locksim-delay": new(faults.Delay), "locksim-jitter": new(faults.Jitter), "locksim-resend": new(faults.Resend),
	"bandwidth": new(toxics.BandwidthToxic), "slicer": new(toxics.SlicerToxic), "slow_close": new(toxics.SlowCloseToxic),
}

var registerToxics = sync.OnceFunc(func() {
	for name, toxic := range toxicTypes {
		toxics.Register(name, toxic)
	}
})

// network is how one client reaches the servers: a Toxiproxy for each of them.
type network struct {
	m *machine

	mu      sync.Mutex
	routes  map[string]*route
	primary string        // the server behind the name primary
	version int           // of the last table
	changed chan struct{} // closed at the next change of it
}

// route is the way to one server. A reset gives it a new proxy, and so a new port; the lock keeps the address that it
// was given, and its process dials the proxy of the moment.
type route struct {
	server   string
	upstream string
	address  string
	proxies  []*toxiproxy.Proxy // the last one is for new connections
	refuses  int                // how many faults make it refuse connections
	silent   int                // and let them wait for ever
	cuts     int                // how many cut the client off
}

// newNetwork makes the proxies of a client, with the toxics that are in force.
func (w *World) newNetwork(m *machine) (*network, error) {
	n := &network{m: m, routes: map[string]*route{}, primary: w.primaryOf(m.name), changed: make(chan struct{})}
	upstreams := w.upstreams()
	store, err := w.listenStore(m)
	if err != nil {
		return nil, err
	}
	upstreams[storeName] = store
	for server, upstream := range upstreams {
		r := &route{server: server, upstream: upstream}
		n.routes[server] = r
		if err := n.open(r); err != nil {
			n.close()
			return nil, err
		}
		r.address = r.proxies[0].Listen
		switch {
		case w.dark[server] != nil:
			r.silent++
		case w.isDown(server):
			r.refuses++
		}
		for _, t := range w.toxics {
			if t.cuts && streams(t.wire, m.name, server) != nil {
				r.cuts++
			}
		}
	}
	return n, nil
}

// open starts a new proxy for a route, with the toxics that are in force.
func (n *network) open(r *route) error {
	w := n.m.w
	p := toxiproxy.NewProxy(w.toxiproxy, n.m.name+"-"+r.server, loopback, r.upstream)
	if err := p.Start(); err != nil {
		return fmt.Errorf("start the proxy between %s and %s: %w", n.m.name, r.server, err)
	}
	for _, t := range append([]*toxic{n.latency(r.server)}, w.toxics...) {
		if err := t.onto(p, n.m.name, r.server); err != nil {
			p.Stop()
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r.proxies = append(r.proxies, p)
	return nil
}

// latency is the latency of the scenario, on all links to a server.
func (n *network) latency(server string) *toxic {
	l := n.m.w.scenario.World.Latency
	wire := faults.Wire{Between: []string{n.m.name}, And: []string{server}}
	return &toxic{name: "latency of the world", wire: wire, build: func() toxics.Toxic {
		return &faults.Jitter{Add: l.Min, Spread: l.Max - l.Min, Seed: n.m.w.seed}
	}}
}

// refused is an address at which nothing listens: port 1 is reserved.
const refused = "127.0.0.1:1"

// table says where the servers are at present.
func (n *network) table() table {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.version++
	t := table{Version: n.version, Address: map[string]string{}, Dial: map[string]string{}, Waits: map[string]bool{},
		Told: map[string]string{}}
	for _, g := range n.m.w.gates {
		t.Told[g.addr()] = g.name
	}
	for name, r := range n.routes {
		t.Address[name] = r.address
		t.Waits[name] = r.silent+r.cuts > 0
		if t.Dial[name] = r.proxies[len(r.proxies)-1].Listen; r.refuses > 0 {
			t.Dial[name] = refused
		}
	}
	if t.Dial[n.primary] != "" {
		t.Address[subject.Primary], t.Dial[subject.Primary] = primaryAddress, t.Dial[n.primary]
		t.Waits[subject.Primary] = t.Waits[n.primary]
	}
	return t
}

// dial dials a server by the table that now returns, with the name of the server in it and a channel that is closed
// when there is another one. A proxy accepts every connection: so it is here that the dial of a server waits as long as
// the client is cut off from it.
func dial(ctx context.Context, network, addr string,
	now func() (t table, server string, changed <-chan struct{})) (net.Conn, error) {
	failed := func(err error) error { return &net.OpError{Op: "dial", Net: network, Err: err} }
	for {
		t, server, changed := now()
		to, ok := t.Dial[server]
		switch {
		case !ok:
			return nil, failed(fmt.Errorf("there is no server %q in this world", addr))
		case !t.Waits[server]:
			return new(net.Dialer).DialContext(context.WithValue(ctx, direct{}, true), "tcp", to)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, failed(ctx.Err())
		}
	}
}

// direct marks the context of a dial that leads to a proxy.
type direct struct{}

// primaryAddress is the address of the name primary. Nothing listens there: the process of a client dials the proxy to
// the primary of the moment.
const primaryAddress = "127.255.255.254:6379"

// announce tells the process of its table. One that is paused reads it before anything else when it goes on.
func (n *network) announce() {
	n.mu.Lock()
	close(n.changed)
	n.changed = make(chan struct{})
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(n.m.ctx, time.Second)
	defer cancel()
	heard := make(chan struct{})
	go func() { defer close(heard); _, _ = n.m.call(n.m.ctx, askTable, n.table(), nil) }()
	select {
	case <-heard:
	case <-n.m.stopped():
	case <-ctx.Done():
	}
}

// replace gives new connections a new proxy. It returns the former ones.
func (n *network) replace(server string) (former []*toxiproxy.Proxy, err error) {
	r := n.routes[server]
	if r == nil {
		return nil, fmt.Errorf("there is no server %q in this world", server)
	}
	n.mu.Lock()
	former = slices.Clone(r.proxies)
	n.mu.Unlock()
	if err := n.open(r); err != nil {
		return nil, err
	}
	n.announce()
	return former, nil
}

// drop ends proxies, with their connections.
func (n *network) drop(server string, former []*toxiproxy.Proxy) {
	for _, p := range former {
		p.Stop()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.routes[server]
	r.proxies = slices.DeleteFunc(r.proxies, func(p *toxiproxy.Proxy) bool { return slices.Contains(former, p) })
}

// each calls f with every route.
func (n *network) each(f func(r *route)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.routes {
		f(r)
	}
}

// all are all proxies of the client, with the server of each.
func (n *network) all() map[*toxiproxy.Proxy]string {
	out := map[*toxiproxy.Proxy]string{}
	n.each(func(r *route) {
		for _, p := range r.proxies {
			out[p] = r.server
		}
	})
	return out
}

// cut makes dials wait on the links of a wire, or ends that.
func (n *network) cut(wire faults.Wire, by int) {
	felt := false
	n.each(func(r *route) {
		if streams(wire, n.m.name, r.server) != nil {
			r.cuts += by
			felt = true
		}
	})
	if felt {
		n.announce()
	}
}

// follow makes the name primary lead to another server.
func (n *network) follow(server string) {
	n.mu.Lock()
	n.primary = server
	n.mu.Unlock()
	n.announce()
}

func (n *network) close() {
	for p := range n.all() {
		p.Stop()
	}
}

// toxic is a toxic on the links of a wire, as long as it is in force.
type toxic struct {
	name  string // unique in a world
	wire  faults.Wire
	build func() toxics.Toxic
	cuts  bool // nothing passes: dials wait
}

// streams are the directions of Toxiproxy, upstream being from the client to the server, that a wire has on the link
// between a client and a server.
func streams(w faults.Wire, client, server string) []string {
	in := func(name string) bool { return slices.Contains(w.Between, name) }
	out := func(name string) bool {
		return slices.Contains(w.And, name) || len(w.And) == 0 && !in(name)
	}
	forward, backward := "upstream", "downstream"
	switch {
	case in(client) && out(server):
	case in(server) && out(client):
		forward, backward = backward, forward
	default:
		return nil
	}
	switch cmp.Or(w.Direction, faults.DirectionBoth) {
	case faults.DirectionForward:
		return []string{forward}
	case faults.DirectionBackward:
		return []string{backward}
	}
	return []string{forward, backward}
}

// onto puts the toxic onto a proxy, as far as its wire leads there.
func (t *toxic) onto(p *toxiproxy.Proxy, client, server string) error {
	for _, stream := range streams(t.wire, client, server) {
		made := t.build()
		kind := ""
		for name, known := range toxicTypes {
			if reflect.TypeOf(known) == reflect.TypeOf(made) {
				kind = name
			}
		}
		if kind == "" {
			return fmt.Errorf("%w: Toxiproxy has no %T", faults.ErrUnable, made)
		}
		body, err := json.Marshal(map[string]any{"name": t.name + "-" + stream, "type": kind, "stream": stream,
			"attributes": made})
		if err != nil {
			return err
		}
		if _, err := p.Toxics.AddToxicJson(bytes.NewReader(body)); err != nil {
			return fmt.Errorf("put a toxic between %s and %s: %w", client, server, err)
		}
	}
	return nil
}

func (t *toxic) off(p *toxiproxy.Proxy, client, server string) {
	for _, stream := range streams(t.wire, client, server) {
		_ = p.Toxics.RemoveToxic(context.Background(), t.name+"-"+stream) // its link may have ended
	}
}

// linked is a proxy between one who dials and one who is dialled. The bus is that between the nodes of a Redis Cluster.
type linked struct {
	proxy          *toxiproxy.Proxy
	client, server string
	bus            bool
}

// links are all proxies of the world: between clients and servers, and between servers.
func (w *World) links() []linked {
	var out []linked
	for _, m := range w.everyone() {
		for p, server := range m.net.all() {
			out = append(out, linked{proxy: p, client: m.name, server: server})
		}
	}
	return append(out, w.servers.links...)
}

// putToxic puts a toxic onto all links of a wire.
func (w *World) putToxic(name string, wire faults.Wire, build func() toxics.Toxic) (*toxic, error) {
	w.numbers++
	t := &toxic{name: fmt.Sprintf("%s-%d", name, w.numbers), wire: wire, build: build}
	for _, link := range w.links() {
		if err := t.onto(link.proxy, link.client, link.server); err != nil {
			return nil, err
		}
	}
	w.toxics = append(w.toxics, t)
	return t, nil
}

// takenOff is how long Toxiproxy may take to take a toxic off: it waits for what it copies.
const takenOff = 20 * time.Second

// takeToxic takes a toxic off. It reports false if it is off already. A run in which Toxiproxy does not do it ends with
// an error.
func (w *World) takeToxic(t *toxic) bool {
	i := slices.Index(w.toxics, t)
	if i < 0 {
		return false
	}
	w.toxics = slices.Delete(w.toxics, i, i+1)
	var all sync.WaitGroup
	for _, link := range w.links() {
		all.Go(func() { t.off(link.proxy, link.client, link.server) })
	}
	off := make(chan struct{})
	go func() { all.Wait(); close(off) }()
	select {
	case <-off:
	case <-time.After(takenOff):
		w.fail(fmt.Errorf("the toxic %s could not be taken off within %v, which no fault of the scenario asks for: play "+
			"the run again",
			t.name, takenOff))
	}
	return true
}

// newToxiproxy is the server that proxies belong to. Nothing listens for its API.
func newToxiproxy() *toxiproxy.ApiServer {
	registerToxics()
	return toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
}

func listen() (net.Listener, error) { return net.Listen("tcp", loopback) }
