package sentinel

import (
	"net"
	"strings"
	"time"

	"locksim/sim"
	"locksim/sim/redis"
)

// kind is what a Sentinel takes another server for.
type kind string

const (
	master   kind = "master"
	replica  kind = "slave"
	sentinel kind = "sentinel"
)

// ms is an instant of a Sentinel's wall clock, or a length, in milliseconds, as Redis has it. 0 is no instant.
type ms int64

// msOf is a length in milliseconds.
func msOf(d time.Duration) ms { return ms(d / time.Millisecond) }

// instance is what a Sentinel knows of another server.
type instance struct {
	kind kind
	node *redis.Server // nil for a Sentinel
	peer *Server       // nil for a node
	of   *sim.Node

	// The connection.
	connected   bool
	session     int // numbers the connections: answers to an old one are dropped
	reconnectAt ms
	connectedAt ms
	pinged      ms // the first ping that was not answered; 0 for none
	lastPing    ms
	lastPong    ms
	lastAvail   ms // the last answer that says that the server is well
	lastHello   ms // that was sent
	heardHello  ms // that was received
	down, odown bool
	downSince   ms
	odownSince  ms

	// What INFO told of a node.
	runID         string
	infoAt        ms
	infoSent      ms
	reported      kind
	reportedAt    ms
	confChangedAt ms
	leader        *redis.Server
	linkUp        bool
	linkDown      ms
	priority      int
	offset        int64
	promoted      bool
	reconf        reconf
	reconfSentAt  ms
	masterDown    bool // a Sentinel takes the primary for down
	masterDownAt  ms
	vote          string // of a Sentinel
	voteEpoch     uint64
}

// reconf is how far a replica is told to follow a new primary.
type reconf int

const (
	reconfNone reconf = iota
	reconfSent
	reconfInProgress
	reconfDone
)

// newInstance is an instance that is not connected yet.
func (s *Server) newInstance(k kind, of *sim.Node) *instance {
	now := s.now()
	in := &instance{
		kind: k, of: of, pinged: now, lastPong: now, lastAvail: now, reported: k, reportedAt: now, confChangedAt: now,
		priority: 100, vote: "", heardHello: now,
	}
	in.node, _ = of.Server().(*redis.Server)
	in.peer, _ = of.Server().(*Server)
	return in
}

// name is the one that the instance has in the answers of a Sentinel.
func (in *instance) name() string {
	switch in.kind {
	case master:
		return MasterName
	case sentinel:
		return in.peer.id
	}
	host, port := address(in.of)
	return net.JoinHostPort(host, port)
}

func address(n *sim.Node) (host, port string) {
	host, port, _ = net.SplitHostPort(n.Address())
	return host, port
}

// flags are those of an instance, as a Sentinel shows them.
func (s *Server) flags(in *instance) string {
	var f []string
	add := func(is bool, name string) {
		if is {
			f = append(f, name)
		}
	}
	add(in.down, "s_down")
	add(in.odown, "o_down")
	add(true, string(in.kind))
	add(!in.connected, "disconnected")
	add(in.masterDown, "master_down")
	add(in.kind == master && s.failover.state != none, "failover_in_progress")
	add(in.promoted, "promoted")
	add(in.reconf == reconfSent, "reconf_sent")
	add(in.reconf == reconfInProgress, "reconf_inprog")
	add(in.reconf == reconfDone, "reconf_done")
	add(in.kind == master && s.failover.forced, "force_failover")
	return strings.Join(f, ",")
}

// ask calls do at the other server, and then answer here with its result, if the connection still stands. A server that
// is down does neither.
func ask[T any](s *Server, in *instance, do func() T, answer func(T)) {
	life, session := s.life, in.session
	s.node.Peer(in.of).Send(func() {
		got := do()
		in.of.Peer(s.node).Send(func() {
			if s.life == life && in.session == session {
				answer(got)
			}
		})
	})
}

// disconnect ends the connection to a server.
func (in *instance) disconnect() {
	in.connected = false
	in.session++
}

// hungUp notices that the connection to a node, or to another Sentinel, was reset.
func (s *Server) hungUp(n *redis.Server, other *Server) {
	for _, in := range s.all() {
		if in.node == n && in.peer == other {
			in.disconnect()
		}
	}
}

// PeerBack implements [sim.PeerFollower]: a connection that has lost something is made anew.
func (s *Server) PeerBack(peer *sim.Node) {
	for _, in := range s.all() {
		if in.of == peer {
			in.disconnect()
		}
	}
}

// reconnect tries to connect, at most once a second. A server that refuses, or cannot be reached, does not answer.
func (s *Server) reconnect(in *instance) {
	now := s.now()
	if in.connected || now-in.reconnectAt < pingPeriod {
		return
	}
	in.reconnectAt = now
	s.ping(in)
}

func (s *Server) ping(in *instance) {
	in.lastPing = s.now()
	if in.pinged == 0 {
		in.pinged = in.lastPing
	}
	ask(s, in, func() bool { return true }, func(bool) {
		now := s.now()
		if !in.connected {
			in.connected, in.connectedAt = true, now
		}
		in.lastPong, in.lastAvail, in.pinged = now, now, 0
	})
}

// periodic sends what is due.
func (s *Server) periodic(in *instance) {
	if !in.connected {
		return
	}
	now := s.now()
	info := infoPeriod
	if in.kind == replica && (s.master.odown || s.failover.state != none || in.linkDown != 0) {
		info = second
	}
	if in.kind != sentinel && (in.infoAt == 0 || now-in.infoAt > info) && now-in.infoSent > second {
		in.infoSent = now
		s.askInfo(in)
	}
	period := min(s.downAfter(), pingPeriod)
	if now-in.lastPong > period && now-in.lastPing > period/2 {
		s.ping(in)
	}
	if now-in.lastHello > helloPeriod {
		s.hello(in)
	}
}
