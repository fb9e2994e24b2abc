package sim

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"locksim/faults"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// This file is the seam at which servers plug in. A kind of server, such as
// Redis or the protected store, builds its nodes through a [Builder]; each runs
// a [Server], whose connections are [Session]s. The server sees the world as
// its [Node]: a machine with clocks, timers, random numbers, links to its
// peers, and the trace. Everything runs on the world's goroutine, one event at
// a time.
//
// A fault that does more than affect the machine and its links needs an
// ability: an interface of one method, which the server may implement. File
// abilities.go has them.

// Kind builds the servers of one kind, or of several that belong together. It
// is plain data, and can build any number of worlds.
type Kind interface {
	// Build is called once for each world, before anything happens in it.
	Build(b *Builder)
}

// Server is the program that runs on a node.
type Server interface {
	// Accept takes a new connection; nil refuses it.
	Accept(c *ServerConn) Session
}

// Session is a server's end of one connection. It answers through its
// [ServerConn].
type Session interface {
	// Data takes bytes, which arrive in order, in whatever pieces. The session
	// may keep b.
	Data(b []byte)
	// EOF says that the client sends nothing more. It may still read.
	EOF()
	// Reset says that the connection is gone, or that the server's process is.
	Reset()
}

// Named is a kind with what [trace.Trace.Servers] says of its servers. The servers of another kind have no name for
// their kind there.
type Named struct {
	Kind Kind
	// Name is the name of the kind, Role that of its servers. A [Builder.Family] has other roles.
	Name string
	Role trace.Role
}

// Build implements [Kind].
func (n Named) Build(b *Builder) {
	b.named = n
	n.Kind.Build(b)
}

// Builder adds the servers of a [Kind] to a world.
type Builder struct {
	w        *World
	group    int // index in Config.Servers
	named    Named
	machines int
	err      error
}

// Add adds a server to the world. Clients dial it by its name, or by the
// address that the world gives it, with this port. newServer is called at once,
// and again at each restart of a server that is no [Restarter]. The name must
// be new, the port one of 1 to 65535; otherwise the run ends with an error, and
// Add returns nil.
func (b *Builder) Add(name string, port int, newServer func(*Node) Server) *Node {
	if !b.free(name, port) || newServer == nil {
		b.fail("the server %q has no function to make it: give one", name)
		return nil
	}
	n := &Node{w: b.w, id: name, newServer: newServer}
	n.addr = b.w.net.add(n, net.IPv4(10, 0, byte(b.group), byte(10+b.machines)), port)
	b.machines++
	b.w.net.nodes = append(b.w.net.nodes, n)
	b.w.trace.Servers = append(b.w.trace.Servers, trace.Server{Name: name, Kind: b.named.Name, Role: b.named.Role})
	n.server = newServer(n)
	return n
}

// Node is the server of that name which was added before, also by another kind. It is nil if there is none.
func (b *Builder) Node(name string) *Node {
	for _, n := range b.w.net.nodes {
		if n.id == name {
			return n
		}
	}
	return nil
}

// Alias adds a name that is dialled like a server, has an address of its own,
// and resolves to the server that resolve returns, as a Sentinel, a DNS name or
// a floating address does for clients in production. Open connections stay
// where they are. resolve is called with the process that dials, and with ""
// where a fault names the alias.
func (b *Builder) Alias(name string, port int, resolve func(process string) *Node) {
	if !b.free(name, port) {
		return
	}
	a := &alias{id: name, target: resolve}
	a.addr = b.w.net.add(a, net.IPv4(10, 0, byte(b.group), 5), port)
}

// Link adds a link between each two of these servers: see [Node.Peer]. A nil
// among them, as [Builder.Add] returns it on error, ends the run with an error:
// that of Add, if there is one.
func (b *Builder) Link(nodes ...*Node) {
	if slices.Contains(nodes, nil) {
		b.fail("there is a link to no server: give servers that Add has returned")
		return
	}
	for i, x := range nodes {
		for _, y := range nodes[i+1:] {
			l := &peerLink{w: b.w, nodes: [2]*Node{x, y}}
			l.flows[Up].where, l.flows[Down].where = x.id+">"+y.id, y.id+">"+x.id
			b.w.net.peers = append(b.w.net.peers, l)
		}
	}
}

// Family says that servers replicate a primary, for [trace.Trace.Servers]. It adds no link.
func (b *Builder) Family(primary *Node, replicas ...*Node) {
	all := b.w.trace.Servers
	for i := range all {
		switch {
		case all[i].Name == primary.id:
			all[i].Family, all[i].Role = primary.id, trace.RolePrimary
		case slices.ContainsFunc(replicas, func(n *Node) bool { return n.id == all[i].Name }):
			all[i].Family, all[i].Role = primary.id, trace.RoleReplica
		}
	}
}

// Fail ends the run with an error, before anything has happened.
func (b *Builder) Fail(err error) { b.fail("%w", err) }

func (b *Builder) free(name string, port int) bool {
	_, taken := b.w.net.hosts[name]
	switch {
	case name == "" || taken || b.w.procs.byName[name] != nil:
		b.fail("the name %q is empty, or taken: give each server one of its own", name)
	case port < 1 || port > 65535:
		b.fail("%s listens on port %d: give one of 1 to 65535", name, port)
	case b.machines >= 200 || b.group >= 200:
		b.fail("there are too many servers: a kind has at most 200, a world 200 kinds")
	default:
		return true
	}
	return false
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// Node is a server's machine, and all of the world that a [Server] can use. Its
// methods are for the world's goroutine.
type Node struct {
	w         *World
	id, addr  string
	clock     clock
	server    Server
	newServer func(*Node) Server
	state     condition
	lives     int           // the number of restarts
	conns     []*ServerConn // open connections, in the order of acceptance
	timers    []*Timer
	used      effects // felt when a client next uses the server
}

func (n *Node) name() string         { return n.id }
func (n *Node) address() string      { return n.addr }
func (n *Node) resolve(string) *Node { return n }

// Name is the name under which clients dial it and reports show it.
func (n *Node) Name() string { return n.id }

// Address is the address under which it is dialled.
func (n *Node) Address() string { return n.addr }

// Server is the program that runs on the machine.
func (n *Node) Server() Server { return n.server }

// Now is the machine's wall time, without a monotonic reading.
func (n *Node) Now() time.Time { return n.w.time.start.Round(0).Add(n.Wall()) }

// Wall is the machine's wall time since the start of the run: it jumps when the
// clock is set, and drifts.
func (n *Node) Wall() time.Duration { return n.clock.wall(n.w.time.elapsed()) }

// Monotonic is the machine's monotonic time since the start of the run: it
// drifts, and never jumps.
func (n *Node) Monotonic() time.Duration { return n.clock.monotonic(n.w.time.elapsed()) }

// Virtual is the world's time since the start of the run, for [trace.KeyChange]
// and for draws: no machine can read it.
func (n *Node) Virtual() time.Duration { return n.w.time.elapsed() }

// Rand creates a generator for one use of this server. Equal names give
// generators with equal numbers, so give each use its own.
func (n *Node) Rand(use string) *rand.Rand { return rand.New(n.w.stream(n.id + "/" + use)) }

// Entropy creates a source of random bytes for one use of this server, in place
// of crypto/rand.
func (n *Node) Entropy(use string) io.Reader { return n.w.chance.entropy(n.id + "/" + use) }

// Draw begins a draw for one use of this server: see [Draw].
func (n *Node) Draw(use string) Draw { return n.w.chance.draw(use).Str(n.id) }

// Record adds to the trace what the server did, and returns the event's number.
// peer is the client or server for which it did so, or empty.
func (n *Node) Record(peer string, what trace.What) int { return n.w.trace.record(n.id, peer, what) }

// Note is [Node.Record] for what a server records only because keys are watched. If they are watched unseen
// ([World.WatchUnseen]), it adds nothing to the trace, and returns the number that the next event will have.
func (n *Node) Note(peer string, what trace.What) int {
	if n.w.unseen {
		return n.w.trace.Len() + 1
	}
	return n.Record(peer, what)
}

// Next is the number that the next event of the trace will have, 0 in an untraced world. It is the step of a change for
// which the server records no event.
func (n *Node) Next() int {
	if n.w.trace.off {
		return 0
	}
	return n.w.trace.Len() + 1
}

// Processes are the names of all processes, in no order.
func (n *Node) Processes() []string { return slices.Collect(maps.Keys(n.w.procs.byName)) }

// Reached notes that the run has reached a rare path, beside the trace.
func (n *Node) Reached(p rare.Path) { n.w.rare.Add(p) }

// Strike adds to the trace what a fault did to the server, and returns the
// event's number. Abilities call it.
func (n *Node) Strike(what trace.What) int { return n.w.trace.record(trace.World, n.id, what) }

// KeyChanged adds to the ground truth, until the end of the run. The node fills in
// its name and the virtual time, the value that was there and whose it was, and
// that no key was there.
func (n *Node) KeyChanged(c trace.KeyChange) {
	if n.w.trace.over {
		return
	}
	c.Server, c.At = n.id, n.w.time.elapsed()
	n.w.trace.ground.add(c)
}

// WhenServing calls f at once, or when a stall is over. It is for what the
// server does on its own and a client could notice; messages from clients and
// peers wait without it.
func (n *Node) WhenServing(f func()) { n.w.force.whenServed(n, ofItself, f) }

// Stalled reports whether a fault keeps the server from serving.
func (n *Node) Stalled() bool { return n.w.force.stalls[n] != nil }

// disturb tells the server of a fault: see [Disturbable].
func (n *Node) disturb() {
	if d, ok := n.server.(Disturbable); ok {
		d.Disturbed()
	}
}

// Down reports whether the server has crashed or was fenced off, and was not
// restarted since.
func (n *Node) Down() bool { return n.state != up }

// Fail ends the run with an error: for a bug or a limit of the server itself.
// It is safe for concurrent use.
func (n *Node) Fail(err error) { n.w.time.fail(err) }

// Fence shuts the server off, as if its process had been killed: its
// connections are reset, and new ones refused. [Faults.Restart] starts it
// again.
func (n *Node) Fence() {
	if n.Down() {
		return
	}
	n.replaced()
	n.stop(killed, faults.CrashProcess)
	for _, c := range n.w.net.connsOf(n) {
		c.reset()
	}
}

// replaced says that a failover in progress is felt when the server is used.
func (n *Node) replaced() {
	if felt := n.w.force.replaced; felt != nil {
		n.used.begin(felt)
	}
}

// HangUp closes all connections in order and ends their sessions, as a server
// does when its role changes.
func (n *Node) HangUp() {
	n.replaced()
	for _, c := range n.w.net.connsOf(n) {
		c.finish()
	}
	n.orphanAll()
}

// Timer is a call that a server has scheduled on its machine's clock.
type Timer struct {
	n       *Node
	end     time.Duration // on the machine's monotonic clock
	f       func()
	life    int
	wanted  int64 // the instant asked for its event; 0: none
	planned int64 // the instant that the event got
	over    bool
}

// After calls f after d of the machine's monotonic clock, also if the clock
// changes its rate meanwhile; never if the server has crashed since.
func (n *Node) After(d time.Duration, f func()) *Timer {
	t := &Timer{n: n, end: n.Monotonic() + d, f: f, life: n.lives}
	n.timers = append(n.timers, t)
	t.plan(d)
	return t
}

// Stop keeps a timer from firing.
func (t *Timer) Stop() {
	if !t.over {
		t.over = true
		if i := slices.Index(t.n.timers, t); i >= 0 {
			t.n.timers = slices.Delete(t.n.timers, i, i+1)
		}
	}
}

// plan plans the timer's event at the instant at which the clock has advanced
// by left.
func (t *Timer) plan(left time.Duration) {
	after := t.n.clock.worldDuration(left)
	if after >= never/2 { // the clock stands still
		t.wanted, t.planned = 0, 0
		return
	}
	want := t.n.w.time.now() + max(int64(after), 1)
	if want == t.wanted {
		return
	}
	t.wanted = want
	var at int64
	at = t.n.w.time.queue.add(want, func() {
		if t.over || t.planned != at {
			return
		}
		t.Stop()
		if t.life == t.n.lives && !t.n.Down() {
			t.f()
		}
	})
	t.planned = at
}

// whenClockUsed calls felt when a client uses the server: it may then go by the
// clock.
func (n *Node) whenClockUsed(_ bool, felt func()) { n.used.begin(felt) }

// clockChanged notifies the server, and plans the timers anew if the rate has
// changed.
func (n *Node) clockChanged(rate bool) {
	if f, ok := n.server.(ClockFollower); ok && !n.Down() {
		f.ClockChanged()
	}
	if rate {
		for _, t := range slices.Clone(n.timers) {
			t.plan(t.end - n.Monotonic())
		}
	}
}

func (n *Node) jumpClock(d time.Duration) {
	n.disturb()
	n.Strike(trace.ClockJump{By: d})
	n.clock.jump(d)
	n.clockChanged(false)
}

func (n *Node) driftClock(ppm int64) {
	n.disturb()
	n.Strike(trace.ClockDrift{PPM: ppm})
	n.clock.drift(n.w.time.elapsed(), ppm)
	n.clockChanged(true)
}

// close ends the server at the end of the run.
func (n *Node) close() {
	for _, c := range slices.Clone(n.conns) {
		c.session.Reset()
	}
	n.conns = nil
	if c, ok := n.server.(Closer); ok {
		c.Close()
	}
}

// ServerConn is a connection as a server sees it. Its methods are for the world's
// goroutine, unless they say otherwise.
type ServerConn struct {
	c       *conn
	node    *Node
	session Session

	orphaned bool // its server crashed or hung up
	strayed  bool // the client has sent bytes since
	bounced  bool // the reset to the client is planned
}

// Send sends b to the client. The caller must not change b afterwards.
func (s *ServerConn) Send(b []byte) { s.c.post(Down, b) }

// Finish ends the stream to the client. Bytes sent before still arrive.
func (s *ServerConn) Finish() { s.c.post(Down, nil) }

// Greeted reports whether a greeting was answered when it was written: see [Greeted].
func (s *ServerConn) Greeted() bool { return s.c.greeted }

// Client is the name of the process that dialled.
func (s *ServerConn) Client() string { return s.c.link.p.name }

// Name distinguishes the connections of one client and server: #1, #2, …, as in
// the trace.
func (s *ServerConn) Name() string { return s.c.name() }

// Notify calls f on the world's goroutine when everything is blocked. Any
// goroutine of the server may call it; a server without goroutines does not
// need it.
func (s *ServerConn) Notify(f func()) {
	s.c.w.time.outbox.post(entry{where: s.c.link.where[Down], rank: rankNode, conn: s.c, commit: f})
}

func (s *ServerConn) data(b []byte) {
	if s.orphaned {
		s.stray()
		return
	}
	s.session.Data(b)
}

func (s *ServerConn) eof() {
	if s.orphaned {
		s.stray()
		return
	}
	s.session.EOF()
}

func (s *ServerConn) reset() {
	if !s.orphaned {
		s.session.Reset()
	}
}

// orphan ends a session whose server has ended. The client may still have the
// connection open.
func (s *ServerConn) orphan() {
	if !s.orphaned {
		s.orphaned = true
		s.session.Reset()
	}
}

// stray handles bytes that a client sends to a server that has ended: the
// machine resets the connection. One without power does so after the restart,
// when the client's machine sends again.
func (s *ServerConn) stray() {
	s.strayed = true
	if s.node.state != powerless && !s.bounced {
		s.bounced = true
		s.c.bounce()
	}
}
