package sentinel

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/rare"
	"locksim/sim/redis"
	"locksim/sim/trace"
)

// The intervals of a Sentinel, as in Redis 7.0.
const (
	second              = ms(1000)
	pingPeriod          = second
	askPeriod           = second
	helloPeriod         = 2 * second
	infoPeriod          = 10 * second
	tiltTrigger         = 2 * second
	tiltPeriod          = 30 * second
	maxElection         = 10 * second
	reconfTimeout       = 10 * second
	minReconnectPeriod  = 15 * second
	maxDesync           = second
	oldPrimaryTolerated = 4 * helloPeriod
)

// Server is one Sentinel. Its methods are for the world's goroutine.
type Server struct {
	node  *sim.Node
	group *group
	id    string

	config // on its disk
	memory // of its process
	life   int
}

// config is what a Sentinel writes to its file, and keeps over a crash.
type config struct {
	epoch       uint64
	primary     *redis.Server
	configEpoch uint64
	voteEpoch   uint64          // in which it has voted last
	replicas    []*redis.Server // in the order in which it got to know them
	others      []*Server       // the other Sentinels
}

// memory is what a Sentinel loses when its process ends.
type memory struct {
	master    *instance
	slaves    []*instance
	sentinels []*instance
	vote      string // for whom it has voted in voteEpoch
	failover  failover
	ticked    ms
	tiltSince ms // 0 for no TILT
	clients   []*session
}

func newServer(node *sim.Node, g *group) *Server {
	s := &Server{node: node, group: g}
	id := make([]byte, 20)
	_, _ = io.ReadFull(node.Entropy("id"), id) // it cannot fail
	s.id = hex.EncodeToString(id)
	s.primary, s.replicas = g.nodes[0], slices.Clone(g.nodes[1:])
	return s
}

func (s *Server) start() {
	if s.others == nil {
		for _, o := range s.group.sentinels {
			if o != s {
				s.others = append(s.others, o)
			}
		}
	}
	s.life++
	s.memory = memory{clients: nil}
	s.watch()
	for _, o := range s.others {
		s.sentinels = append(s.sentinels, s.newInstance(sentinel, o.node))
	}
	s.ticked = s.now()
	if s.life == 1 {
		s.settle()
	}
	s.plan()
}

// settle is the state of a Sentinel that has run for a while.
func (s *Server) settle() {
	now := s.now()
	for _, in := range s.all() {
		in.connected, in.connectedAt, in.pinged, in.lastHello = true, now, 0, now
		if in.node != nil {
			s.informed(in, in.node.Replication())
		}
	}
}

// watch makes the instances of the primary and its replicas.
func (s *Server) watch() {
	s.master = s.newInstance(master, s.primary.Node())
	s.slaves = nil
	for _, r := range s.replicas {
		s.slaves = append(s.slaves, s.newInstance(replica, r.Node()))
	}
}

// now is the wall time of its machine.
func (s *Server) now() ms { return ms(s.node.Now().UnixMilli()) }

func (s *Server) downAfter() ms { return msOf(s.group.config.DownAfter) }

func (s *Server) timeout() ms { return msOf(s.group.config.FailoverTimeout) }

// all are the instances, the primary first, then the replicas and the Sentinels.
func (s *Server) all() []*instance {
	return slices.Concat([]*instance{s.master}, s.slaves, s.sentinels)
}

// draw is a random number below limit.
func (s *Server) draw(use string, limit int64) int64 {
	return s.node.Draw(use).Num(int64(s.node.Virtual())).Between(0, limit-1)
}

// plan plans the next tick: Redis changes the rate at random, so that Sentinels do not stay in step.
func (s *Server) plan() {
	hz := 10 + s.draw("hz", 10)
	s.node.After(time.Second/time.Duration(hz), func() {
		s.node.WhenServing(func() {
			s.tick()
			s.plan()
		})
	})
}

// tick is what a Sentinel does some fifteen times a second.
func (s *Server) tick() {
	s.checkTilt()
	s.handle(s.master)
	for _, in := range slices.Concat(s.slaves, s.sentinels) {
		s.handle(in)
	}
	if s.failover.state == updateConfig {
		s.switchMaster()
	}
}

// checkTilt looks whether the clock has jumped, or the process has stood still.
func (s *Server) checkTilt() {
	now := s.now()
	if delta := now - s.ticked; delta < 0 || delta > tiltTrigger {
		s.tiltSince = now
		s.node.Reached(rare.SentinelTilt)
		s.publish("+tilt", "#tilt mode entered", "")
	}
	s.ticked = now
}

// handle does for one server what is due.
func (s *Server) handle(in *instance) {
	s.reconnect(in)
	s.periodic(in)
	if s.tiltSince != 0 {
		if s.now()-s.tiltSince < tiltPeriod {
			return
		}
		s.tiltSince = 0
		s.publish("-tilt", "#tilt mode exited", "")
	}
	s.checkDown(in)
	if in.kind != master {
		return
	}
	s.checkAgreed()
	if s.startNeeded() {
		s.askOthers(true)
	}
	s.advance()
	s.askOthers(false)
}

func (s *Server) askInfo(in *instance) {
	ask(s, in, func() redis.Replication { return in.node.Replication() }, func(r redis.Replication) { s.informed(in, r) })
}

// informed reads the answer to INFO.
func (s *Server) informed(in *instance, r redis.Replication) {
	now := s.now()
	if in.runID != "" && in.runID != r.RunID {
		s.event("+reboot", in, "")
	}
	in.runID, in.infoAt = r.RunID, now
	in.linkDown = 0
	role := replica
	if r.Primary {
		role = master
	}
	if role == replica {
		if in.leader != r.Leader {
			in.leader, in.confChangedAt = r.Leader, now
		}
		in.linkUp, in.linkDown = r.LinkUp, msOf(r.Down)
		in.priority, in.offset = r.Priority, r.Offset
	} else if in.kind == master {
		for _, f := range r.Replicas {
			s.discover(f)
		}
	}
	if role != in.reported {
		in.reported, in.reportedAt = role, now
		if in.kind == replica {
			in.confChangedAt = now
		}
		change := "-role-change"
		if in.kind == role {
			change = "+role-change"
		}
		s.event(change, in, "new reported role is "+string(role))
	}
	if s.tiltSince != 0 || in.kind != replica {
		return
	}
	switch {
	case role == master:
		s.unexpected(in)
	case in.leader != s.primary:
		if s.sane() && in.undisturbed(s.now(), s.timeout()) && now-in.confChangedAt > s.timeout() {
			s.makeReplica(in, s.primary)
			s.event("+fix-slave-config", in, "")
		}
	}
	s.reconfigured(in)
}

// unexpected is a replica that says it is a primary: the one that was promoted, or an old one.
func (s *Server) unexpected(in *instance) {
	now := s.now()
	if in.promoted && s.failover.state == waitPromotion {
		s.configEpoch = s.failover.epoch
		s.enter(reconfSlaves)
		s.event("+promoted-slave", in, "")
		s.event("+failover-state-reconf-slaves", s.master, "")
		s.hurryHellos()
		return
	}
	if !in.promoted && s.sane() && in.undisturbed(now, oldPrimaryTolerated) && now-in.reportedAt > oldPrimaryTolerated {
		s.node.Reached(rare.SentinelConverted)
		s.makeReplica(in, s.primary)
		s.event("+convert-to-slave", in, "")
	}
}

// sane reports whether the primary looks well.
func (s *Server) sane() bool {
	m := s.master
	return m.reported == master && !m.down && !m.odown && s.now()-m.infoAt < 2*infoPeriod
}

// undisturbed reports whether the instance was not down for some time.
func (in *instance) undisturbed(now, d ms) bool {
	return now-max(in.downSince, in.odownSince) > d
}

// discover adds a replica that it did not know.
func (s *Server) discover(n *redis.Server) {
	if n == s.primary || slices.Contains(s.replicas, n) {
		return
	}
	s.replicas = append(s.replicas, n)
	in := s.newInstance(replica, n.Node())
	s.slaves = append(s.slaves, in)
	s.event("+slave", in, "")
}

// makeReplica lets a node follow another.
func (s *Server) makeReplica(in *instance, to *redis.Server) {
	s.node.Peer(in.of).Send(func() { in.node.Follow(to, s.node.Name()) })
}

// knows reports whether the Sentinel has heard of another one.
func (s *Server) knows(other *Server) *instance {
	for _, in := range s.sentinels {
		if in.peer == other {
			return in
		}
	}
	return nil
}

// hello is what Sentinels tell each other, by way of the nodes and directly.
type hello struct {
	from        *Server
	epoch       uint64
	primary     *redis.Server
	configEpoch uint64
}

// current is the primary that clients are told of: from the promotion on the new one.
func (s *Server) current() *redis.Server {
	if s.failover.state >= reconfSlaves && s.failover.chosen != nil {
		return s.failover.chosen.node
	}
	return s.primary
}

// hello publishes what the Sentinel knows on a node, or tells it to another Sentinel.
func (s *Server) hello(in *instance) {
	in.lastHello = s.now()
	h := hello{s, s.epoch, s.current(), s.configEpoch}
	if in.kind == sentinel {
		s.node.Peer(in.of).Send(func() { in.peer.heard(h) })
		return
	}
	s.node.Peer(in.of).Send(func() {
		for _, o := range s.group.sentinels {
			if o != s && o.subscribes(in.node) {
				in.of.Peer(o.node).Send(func() { o.heard(h) })
			}
		}
	})
}

// subscribes reports whether the Sentinel is connected with a node, whose messages it gets then.
func (s *Server) subscribes(n *redis.Server) bool {
	return slices.ContainsFunc(s.all(), func(in *instance) bool { return in.node == n && in.connected })
}

// hurryHellos lets the next tick tell everything to all.
func (s *Server) hurryHellos() {
	for _, in := range s.all() {
		in.lastHello -= helloPeriod + 1
	}
}

// heard takes what another Sentinel knows.
func (s *Server) heard(h hello) {
	if h.epoch > s.epoch {
		s.newEpoch(h.epoch)
	}
	in := s.knows(h.from)
	if in == nil {
		return
	}
	in.heardHello = s.now()
	if h.configEpoch <= s.configEpoch {
		return
	}
	s.configEpoch = h.configEpoch
	if h.primary == s.primary {
		return
	}
	s.event("+config-update-from", in, "")
	s.announce(h.primary)
	s.reset(h.primary)
}

// newEpoch is an epoch of which it hears, or that it begins.
func (s *Server) newEpoch(epoch uint64) {
	s.epoch = epoch
	s.publish("+new-epoch", fmt.Sprint(epoch), "")
}

// announce tells clients of a new primary.
func (s *Server) announce(to *redis.Server) {
	host, port := address(s.primary.Node())
	newHost, newPort := address(to.Node())
	s.publish("+switch-master", strings.Join([]string{MasterName, host, port, newHost, newPort}, " "),
		fmt.Sprintf("%s in place of %s", to.Name(), s.primary.Name()))
}

// reset begins to watch another primary. The old one is a replica now.
func (s *Server) reset(to *redis.Server) {
	var replicas []*redis.Server
	for _, r := range append(slices.Clone(s.replicas), s.primary) {
		if r != to {
			replicas = append(replicas, r)
		}
	}
	s.primary, s.replicas = to, replicas
	s.vote, s.failover = "", failover{}
	s.watch()
	for _, in := range s.slaves {
		s.event("+slave", in, "")
	}
}

// switchMaster ends a failover.
func (s *Server) switchMaster() {
	to := s.failover.chosen.node
	s.announce(to)
	s.reset(to)
}

func (s *Server) event(name string, in *instance, more string) {
	host, port := address(in.of)
	text := fmt.Sprintf("%s %s %s %s", in.kind, in.name(), host, port)
	if in.kind != master {
		host, port = address(s.primary.Node())
		text += fmt.Sprintf(" @ %s %s %s", MasterName, host, port)
	}
	s.publish(name, strings.TrimSuffix(text+" "+more, " "), strings.TrimSuffix(in.of.Name()+" "+more, " "))
}

// publish sends an event to the subscribers, and records it, in words for readers.
func (s *Server) publish(channel, message, about string) {
	if about == "" {
		about = message
	}
	s.node.Record("", trace.Sentinel{Event: channel, About: about})
	for _, c := range s.clients {
		c.message(channel, message)
	}
}

// Crash implements [sim.Crasher]. Its configuration is on the disk, whatever the mode.
func (s *Server) Crash(mode faults.CrashMode) {
	s.life++
	s.clients = nil
	if mode == faults.CrashPower {
		return
	}
	for _, other := range s.group.sentinels {
		if other != s {
			s.node.Peer(other.node).Send(func() { other.hungUp(nil, s) })
		}
	}
}

// Restart implements [sim.Restarter]: it knows from its file which primary it watches, and its epochs.
func (s *Server) Restart(int) { s.start() }

// Kept implements [sim.Keeper].
func (s *Server) Kept() string { return "its configuration kept, of epoch " + fmt.Sprint(s.epoch) }

// Node is the machine on which it runs.
func (s *Server) Node() *sim.Node { return s.node }

// Primary is the server that it takes for the primary, and tells clients of.
func (s *Server) Primary() *redis.Server { return s.current() }

// Tilted reports whether it does nothing, since its clock was wrong.
func (s *Server) Tilted() bool { return s.tiltSince != 0 }

// Role implements [sim.Ranked]: whom it watches. The offset is the epoch.
func (s *Server) Role() (role string, offset int64) {
	if s.node.Down() {
		return "down", int64(s.epoch)
	}
	return "watches " + s.current().Name(), int64(s.epoch)
}

// Still implements [sim.Still]: a Sentinel has no goroutines.
func (s *Server) Still() bool { return true }

// ConnectsEarly implements [sim.Early]: go-redis keeps a mutex while it connects to a Sentinel.
func (s *Server) ConnectsEarly() {}

// Answer implements [sim.Immediate]: go-redis keeps that mutex until a new connection has greeted the server.
func (s *Server) Answer(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		args, n, err := redis.ParseCommand(b)
		if err != nil || n == 0 || len(args) == 0 || !greets(args) {
			break
		}
		b = b[n:]
		x := &session{server: s}
		x.carryOut(args)
		out = append(out, x.out...)
	}
	return out
}

// Canonical implements [sim.Canonical]: go-redis subscribes anew to its channels in the order of a map.
func (s *Server) Canonical(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for rest := b; len(rest) > 0; {
		args, n, err := redis.ParseCommand(rest)
		if err != nil || n == 0 {
			return append(out, rest...)
		}
		if len(args) > 2 && strings.HasSuffix(strings.ToLower(args[0]), "subscribe") {
			slices.Sort(args[1:])
			out = fmt.Appendf(out, "*%d\r\n", len(args))
			for _, a := range args {
				out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(a), a)
			}
		} else {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out
}

// greets reports whether a command is one with which a client begins. Its answer is the same on every connection.
func greets(args []string) bool {
	switch strings.ToLower(args[0]) {
	case "hello":
		return len(args) > 1 && (args[1] == "2" || args[1] == "3")
	case "client":
		return len(args) > 1 && !strings.EqualFold(args[1], "getname")
	}
	return false
}

// Describe implements [sim.Describer].
func (s *Server) Describe(_ sim.Direction, b []byte) trace.Content { return redis.RESP(b) }
