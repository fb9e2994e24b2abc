//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/sim/trace"
)

// gate is where the other servers reach a server that Sentinels watch, a Sentinel, or a node of a Redis Cluster: all of
// them are told its addresses alone. Behind it each pair of servers has a Toxiproxy of its own. A server dials from an
// address of its own, by which the gate knows it.
type gate struct {
	name, source string
	doors        []*door // the one for commands first, then that of the bus of a cluster

	mu      sync.Mutex
	refuses int // how many faults make it refuse connections
	silent  int // and let them wait for ever
}

// door is an address of a gate, for one port of its server.
type door struct {
	upstream string
	listener net.Listener
	from     map[string]string // the address of the proxy for connections from each source; under the mutex of the gate
}

// addr is where the server is reached for commands.
func (g *gate) addr() string { return g.doors[0].listener.Addr().String() }

// openGate makes the gate of a server, and the proxies between it and those that have one. It is that of
// [server.Options]. A server that is to start on another port gets another gate.
func (w *World) openGate(name, addr, bus string) (server.Gate, error) {
	if former := w.gateOf(name); former != nil {
		w.closeGate(former)
	}
	w.sources++
	g := &gate{name: name, source: fmt.Sprintf("127.0.1.%d", w.sources)}
	out := server.Gate{Source: g.source}
	for _, port := range []struct {
		upstream string
		told     *string
	}{{addr, &out.Addr}, {bus, &out.Bus}} {
		if port.upstream == "" {
			continue
		}
		l, err := listen()
		if err != nil {
			return server.Gate{}, err
		}
		*port.told = l.Addr().String()
		g.doors = append(g.doors, &door{upstream: port.upstream, listener: l, from: map[string]string{}})
	}
	for _, other := range w.gates {
		if err := errors.Join(w.join(g, other), w.join(other, g)); err != nil {
			return server.Gate{}, err
		}
	}
	w.gates = append(w.gates, g)
	for _, d := range g.doors {
		go g.serve(w.ctx, d, w.silence.Addr().String())
	}
	return out, nil
}

// closeGate ends a gate, and the proxies that lead there or are for its server.
func (w *World) closeGate(g *gate) {
	for _, d := range g.doors {
		_ = d.listener.Close()
	}
	w.gates = slices.DeleteFunc(w.gates, func(x *gate) bool { return x == g })
	w.servers.links = slices.DeleteFunc(w.servers.links, func(l linked) bool {
		its := l.client == g.name || l.server == g.name
		if its {
			l.proxy.Stop()
		}
		return its
	})
}

// join starts the proxies through which one server reaches another.
func (w *World) join(from, to *gate) error {
	for i, d := range to.doors {
		p := toxiproxy.NewProxy(w.toxiproxy, fmt.Sprint(from.name, "-", to.name, "-", i), loopback, d.upstream)
		if err := p.Start(); err != nil {
			return fmt.Errorf("start the proxy between %s and %s: %w", from.name, to.name, err)
		}
		w.servers.links = append(w.servers.links, linked{proxy: p, client: from.name, server: to.name, bus: i > 0})
		to.mu.Lock()
		d.from[from.source] = p.Listen
		to.mu.Unlock()
	}
	return nil
}

// gateOf is the gate of a server, nil for none.
func (w *World) gateOf(name string) *gate {
	for _, g := range w.gates {
		if g.name == name {
			return g
		}
	}
	return nil
}

// serve passes the connections of a door on until the context ends. A connection that is to wait leads to silence,
// where nothing answers.
func (g *gate) serve(ctx context.Context, d *door, silence string) {
	defer context.AfterFunc(ctx, func() { _ = d.listener.Close() })()
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return
		}
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		g.mu.Lock()
		to, refuses, silent := d.from[host], g.refuses, g.silent
		g.mu.Unlock()
		switch {
		case to == "" || refuses > 0:
			_ = c.(*net.TCPConn).SetLinger(0) // as if nothing listened
			_ = c.Close()
		case silent > 0:
			go pass(ctx, c, silence)
		default:
			go pass(ctx, c, to)
		}
	}
}

// pass passes a connection on to an address, until either side closes it.
func pass(ctx context.Context, from net.Conn, addr string) {
	defer from.Close() //nolint:errcheck // it is over
	to, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer to.Close() //nolint:errcheck // it is over
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// shut makes a gate refuse new connections, or let them wait for ever, or ends that.
func (g *gate) shut(by int, silent bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if silent {
		g.silent += by
	} else {
		g.refuses += by
	}
}

// reopen ends everything that shut has done.
func (g *gate) reopen() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuses, g.silent = 0, 0
}

// lagBehind makes replicas that have a gate lag, whichever server is their primary. They are in sync before: a
// replica asks its primary several things when it begins to follow, and each answer would take as long.
func (w *World) lagBehind() error {
	lag := w.scenario.World.Lag
	for _, link := range w.servers.links {
		if lag.Max == 0 || link.bus || !w.hasKeys(link.client) || !w.hasKeys(link.server) {
			continue
		}
		if err := w.lagging(link.client, link.server).onto(link.proxy, link.client, link.server); err != nil {
			return err
		}
	}
	return nil
}

// lagging is the toxic that makes a replica lag behind its primary.
func (w *World) lagging(replica, primary string) *toxic {
	lag := w.scenario.World.Lag
	wire := faults.Wire{Between: []string{primary}, And: []string{replica}, Direction: faults.DirectionForward}
	return &toxic{name: "lag", wire: wire, build: func() toxics.Toxic {
		return &faults.Jitter{Add: lag.Min, Spread: lag.Max - lag.Min, Seed: hashOf(replica, int(w.seed), "lag")}
	}}
}

// loseUnderWay makes the network lose what a server that has crashed has sent the other servers: by the lag of the
// scenario its replicas do not have it yet.
func (w *World) loseUnderWay(crashed string) error {
	wire := faults.Wire{Between: []string{crashed}, Direction: faults.DirectionForward}
	for _, g := range w.gates {
		if g.name != crashed {
			wire.And = append(wire.And, g.name)
		}
	}
	if w.gateOf(crashed) == nil || w.lost[crashed] != nil {
		return nil
	}
	t, err := w.putToxic("lost", wire, func() toxics.Toxic { return new(faults.Drop) })
	w.lost[crashed] = t
	return err
}

func (w *World) isRedis(name string) bool {
	is, _ := w.trace.Servers.Find(name)
	return is.Kind == string(server.Redis)
}

// hasKeys says that a server is a Redis, or a node of a Redis Cluster.
func (w *World) hasKeys(name string) bool {
	is, _ := w.trace.Servers.Find(name)
	return is.Kind == string(server.Cluster) || w.isRedis(name)
}

// sentinels are the Sentinels, or nil.
func (s *servers) sentinels() *server.Group { return s.group(server.Sentinel) }

// hearSentinels adds to the trace what Sentinels publish, with the names of servers instead of their addresses.
func (w *World) hearSentinels() {
	g := w.servers.sentinels()
	if g == nil {
		return
	}
	known := map[string]string{}
	for _, x := range g.Servers() {
		known[x.ID()] = x.Name()
	}
	for _, x := range w.gates {
		known[x.addr()] = x.name
	}
	for _, x := range g.Servers() {
		go x.Subscribe(w.ctx, func(event, text string) {
			w.inOrder(func() { w.add(0, x.Name(), "", trace.Sentinel{Event: event, About: about(event, text, known)}) })
		})
	}
}

// hearCluster adds to the trace what the nodes of a Redis Cluster say in their logs.
func (w *World) hearCluster() {
	if g := w.servers.cluster(); g != nil {
		g.Hear(func(s *server.Server, what trace.What) {
			at := monotonic()
			go w.inOrder(func() { w.add(at, s.Name(), "", what) })
		})
	}
}

// about is what a Sentinel says of an event, as [trace.Sentinel] has it. known are the names of servers by their
// addresses, and of Sentinels by their ids.
func about(event, text string, known map[string]string) string {
	words := strings.Fields(text)
	name := func(i int) string { return known[net.JoinHostPort(words[i], words[i+1])] }
	switch {
	case strings.HasPrefix(text, "#"): // of TILT
		return ""
	case event == "+switch-master" && len(words) == 5:
		return fmt.Sprintf("%s in place of %s", name(3), name(1))
	case event == "+vote-for-leader" && len(words) == 2:
		return fmt.Sprintf("%s in epoch %s", known[words[0]], words[1])
	case len(words) < 4:
		return text
	}
	more := words[4:]
	if len(more) >= 4 && more[0] == "@" { // its primary
		more = more[4:]
	}
	return strings.Join(append([]string{name(2)}, more...), " ")
}
