package zookeeper

import (
	"fmt"
	"slices"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/raftgroup"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// The times of a server are the defaults of ZooKeeper.
const (
	// round is the time between two heartbeats of the leader.
	round = tick / 2
	// syncLimit is how long a server waits to hear another one.
	syncLimit = 5 * tick
	// electionRounds is the time of raft for the same; a server gives up before.
	electionRounds = int(2 * syncLimit / round)
	// minVote and maxVote bound the time from the loss of the leader until a server stands for election, and to the next
	// try.
	minVote = 200 * time.Millisecond
	maxVote = 500 * time.Millisecond
)

// Server is one server of an ensemble, or a single one. Its methods are for the world's goroutine.
type Server struct {
	node     *sim.Node
	ensemble *ensemble
	id       uint64 // the number in the name, and 1
	raft     *raftgroup.Member
	phase    time.Duration // of its ticks

	memory // of its process
}

// memory is what a server loses when its process ends.
type memory struct {
	life     int // the number of the process
	tree     *tree
	applied  uint64 // of the log
	epoch    int64  // the number of leaders so far
	counter  int64  // the number of transactions of the epoch
	booted   time.Duration
	granted  uint64 // the number of sessions that it gave ids
	requests uint64 // numbers the requests of the process
	waiting  map[uint64]*proposal
	synced   []applyWait
	conns    []*conn

	leader   uint64                   // whom it follows, or 0
	term     uint64                   // in which it leads
	heard    map[uint64]time.Duration // when it last heard each of the others
	serving  bool                     // clients
	reign    int                      // the number of times that it began or ended to serve
	looking  int                      // the number of times that it began to look for a leader
	joining  string                   // what it has asked a leader whom it will follow, or ""
	joinedAt uint64                   // the end of the log that it needs to serve, 0 if it is unknown

	sessions tracker        // on the leader
	touched  map[int64]bool // elsewhere: the sessions that were heard of since the last report
}

func newServer(node *sim.Node, e *ensemble) *Server {
	s := &Server{node: node, ensemble: e, phase: time.Duration(node.Draw("ticks").Between(0, int64(tick-1)))}
	s.raft = e.group.Add(node, s, electionRounds)
	s.id = s.raft.ID()
	s.start()
	return s
}

// start starts the process: it reads the log again.
func (s *Server) start() {
	s.memory = memory{
		life: s.life + 1, tree: newTree(), applied: raftgroup.FirstIndex, booted: s.node.Monotonic(),
		waiting: map[uint64]*proposal{},
		heard:   map[uint64]time.Duration{}, touched: map[int64]bool{},
	}
	s.raft.Start(0)
}

// run starts what a server does by its clock.
func (s *Server) run() {
	life := s.life
	s.every(round, func() bool { return s.life == life }, s.heartbeat)
	if s.leader == 0 {
		s.look()
	}
}

// every calls f regularly by the server's clock, as long as it is valid. A stalled process does nothing.
func (s *Server) every(d time.Duration, valid func() bool, f func()) {
	s.node.After(d, func() {
		s.node.WhenServing(func() {
			if valid() && !s.node.Down() {
				f()
				s.every(d, valid, f)
			}
		})
	})
}

// serves is a function that reports whether the server still serves as it does now.
func (s *Server) serves() func() bool {
	life, reign := s.life, s.reign
	return func() bool { return s.life == life && s.reign == reign && s.serving && !s.node.Down() }
}

// On finds a server of a world by its name: z0, z1, …, or [Leader]. The error names the servers of the world.
func On(w *sim.World, name string) (*Server, error) {
	node, err := w.Node(name)
	if err != nil {
		return nil, err
	}
	s, ok := node.Server().(*Server)
	if !ok {
		return nil, fmt.Errorf("%s is no server of ZooKeeper", name)
	}
	return s, nil
}

// Node is the machine on which it runs.
func (s *Server) Node() *sim.Node { return s.node }

// Leads reports whether the server takes itself for the leader. A leader that is cut off does so for up to 5 ticks.
func (s *Server) Leads() bool { return !s.node.Down() && s.leader == s.id }

// Role implements [sim.Ranked]. The offset is the last index of the log that the server has applied.
func (s *Server) Role() (role string, offset int64) {
	switch {
	case s.ensemble.single():
		role = "standalone"
	case s.Leads():
		role = fmt.Sprintf("leader of epoch %d", s.epoch)
	case s.leader == 0:
		role = "looking for a leader"
	default:
		role = "follower of " + s.ensemble.servers[s.leader-1].node.Name()
	}
	return role, int64(s.applied)
}

// Crash implements [sim.Crasher]. The log is on the disk, whatever the mode. The others notice at once that a process
// has ended, and only after some time that a machine has.
func (s *Server) Crash(mode faults.CrashMode) {
	s.life++
	if mode == faults.CrashPower {
		return
	}
	for _, other := range s.ensemble.servers {
		if other != s {
			s.node.Peer(other.node).Send(func() { other.hungUp(s.id) })
		}
	}
}

// Restart implements [sim.Restarter]: the server reads its log, and looks for a leader.
func (s *Server) Restart(int) {
	s.start()
	s.raft.Pump()
	s.run()
}

// Leave implements [sim.Leaver].
func (s *Server) Leave() error { return s.raft.Leave() }

// Join implements [sim.Leaver].
func (s *Server) Join() { s.raft.Join() }

// Belongs implements [sim.Leaver].
func (s *Server) Belongs() bool { return s.raft.Belongs() }

// Kept implements [sim.Keeper].
func (s *Server) Kept() string { return fmt.Sprintf("a log of %d entries kept", s.raft.Entries()) }

// Heard implements [raftgroup.Hearer].
func (s *Server) Heard(from uint64) { s.heard[from] = s.node.Monotonic() }

// hungUp notices that the process of another server has ended.
func (s *Server) hungUp(other uint64) {
	delete(s.heard, other)
	if s.leader == other {
		s.look()
	}
}

// PeerBack implements [sim.PeerFollower]: a connection that has lost something is made anew.
func (s *Server) PeerBack(peer *sim.Node) {
	if s.leader != 0 && s.leader != s.id && s.ensemble.servers[s.leader-1].node == peer {
		s.look()
	}
}

// heartbeat is what a server does every half a tick.
func (s *Server) heartbeat() {
	s.raft.Tick()
	switch {
	case s.leader == 0:
	case s.leader != s.id:
		if !s.hears(s.leader) {
			s.node.Reached(rare.ZooKeeperUnheard)
			s.look()
		} else if !s.serving {
			s.join()
		}
	case !s.majority():
		s.node.Reached(rare.ZooKeeperAlone)
		s.look()
	case s.serving:
		for _, other := range s.ensemble.servers {
			if other != s {
				s.node.Peer(other.node).Send(func() { other.report(s) })
			}
		}
	}
}

// hears reports whether the server has heard another one lately.
func (s *Server) hears(other uint64) bool {
	at, ever := s.heard[other]
	return ever && s.node.Monotonic()-at <= syncLimit
}

// majority reports whether it has heard the majority lately, itself included.
func (s *Server) majority() bool {
	count := 1
	for _, other := range s.ensemble.servers {
		if other != s && s.raft.Has(other.id) && s.hears(other.id) {
			count++
		}
	}
	return count > s.raft.Voters()/2
}

// look leaves the leader, closes all connections, and takes part in an election.
func (s *Server) look() {
	s.leave()
	s.raft.Start(s.applied)
	s.looking++
	s.stand(s.life, s.looking)
}

// stand stands for election after some time, until there is a leader.
func (s *Server) stand(life, looking int) {
	wait := s.node.Draw("election").Num(int64(s.node.Virtual())).Between(int64(minVote), int64(maxVote))
	s.node.After(time.Duration(wait), func() {
		s.node.WhenServing(func() {
			if s.life != life || s.looking != looking || s.leader != 0 || s.node.Down() {
				return
			}
			if err := s.raft.Campaign(); err != nil {
				s.node.Fail(fmt.Errorf("%s stands for election: %w", s.node.Name(), err))
			}
			s.stand(life, looking)
		})
	})
}

// Followed implements [raftgroup.Machine].
func (s *Server) Followed() {
	leader := s.raft.Leader()
	if leader == s.leader && (leader == 0 || s.raft.Term() == s.term) {
		return
	}
	if leader == 0 {
		s.look()
		return
	}
	s.leave()
	s.leader, s.term = leader, s.raft.Term()
	now := s.node.Monotonic()
	for _, other := range s.ensemble.servers {
		s.heard[other.id] = now // it has just been elected by them, or heard of the leader
	}
	s.joining, s.joinedAt = "", 0
	if leader != s.id {
		s.join()
	}
}

// join asks the leader how far this server has to execute the log before it serves.
func (s *Server) join() {
	s.joining = fmt.Sprint(s.request())
	s.raft.ReadIndex(s.joining)
	s.raft.Pump()
}

// Confirmed implements [raftgroup.Machine].
func (s *Server) Confirmed(context string, index uint64) {
	if context == s.joining {
		s.joinedAt = index
	}
}

// Settled implements [raftgroup.Machine].
func (s *Server) Settled() {
	for len(s.synced) > 0 && s.applied >= s.synced[0].index {
		next := s.synced[0]
		s.synced = s.synced[1:]
		next.f()
	}
	if s.serving || s.leader == 0 || s.leader == s.id {
		return
	}
	if s.joinedAt > 0 && s.applied >= s.joinedAt {
		s.serve()
	}
}

func (s *Server) serve() {
	s.serving = true
	s.reign++
	s.touched = map[int64]bool{}
	if s.leader == s.id {
		s.promote()
		s.node.Record("", trace.Elected{Term: uint64(s.epoch)})
	}
}

// leave leaves the leader, or ends to lead: all connections are closed.
func (s *Server) leave() {
	if s.leader == s.id {
		s.node.Record("", trace.StepDown{Term: uint64(s.epoch)})
	}
	s.leader = 0
	if !s.serving {
		return
	}
	s.serving = false
	s.reign++
	s.waiting, s.synced = map[uint64]*proposal{}, nil
	for _, x := range slices.Clone(s.conns) {
		x.hangUp()
	}
}

// request numbers a request of the server: unlike that of any other process.
func (s *Server) request() uint64 {
	s.requests++
	return s.id<<56 | uint64(s.life&0xffff)<<40 | s.requests
}

// proposal is a write on its way through the log.
type proposal struct {
	session int64
	packet  []byte
	client  string
	done    func(zxid int64, err code, body []byte) // nil if it is the server's own
}

// propose lets the servers agree on a write. done gets the answer when this server has executed it. It gets none if the
// server loses the leader before: then the connection is closed.
func (s *Server) propose(p *proposal) {
	id := s.request()
	s.waiting[id] = p
	s.ensemble.asked[id] = p.client
	if s.leader == s.id {
		s.prepare(id, p.session, p.packet, s.id)
		return
	}
	leader := s.ensemble.servers[s.leader-1]
	s.node.Peer(leader.node).Send(func() {
		if leader.serving && leader.Leads() {
			leader.prepare(id, p.session, p.packet, s.id)
		}
	})
}

// prepare is what the leader does with a write: it looks whether the session may write, gives it its time, and proposes
// it. One that it refuses is a transaction too.
func (s *Server) prepare(id uint64, session int64, packet []byte, from uint64) {
	q, _ := parse(packet) // it was read before
	t := transaction{id: id, session: session, time: s.node.Now().UnixMilli(), packet: packet}
	switch q.op {
	case opCreateSession:
		s.extend(session, q.timeout)
		s.sessions.owners[session] = from
	case opCloseSession:
		s.sessions.closing[session] = true
	case opDeleteContainer:
	default:
		if session != 0 { // that of a client, and not of an operator
			t.refused = s.checkSession(session, from)
		}
	}
	if err := s.raft.Propose(t.encode()); err != nil {
		return // it leads no more, and closes all connections
	}
	s.raft.Pump()
}

// checkSession looks whether a session goes on, and is on this server, which it is bound to if it is to none.
func (s *Server) checkSession(session int64, on uint64) code {
	if _, known := s.sessions.ends[session]; !known || s.sessions.closing[session] {
		return errSessionExpired
	}
	if owner, bound := s.sessions.owners[session]; bound && owner != on {
		s.node.Reached(rare.ZooKeeperMoved)
		return errSessionMoved
	}
	s.sessions.owners[session] = on
	return ok
}

// Apply implements [raftgroup.Machine].
func (s *Server) Apply(e *raftpb.Entry) {
	s.applied = e.GetIndex()
	if e.GetType() != raftpb.EntryNormal {
		return
	}
	if len(e.Data) == 0 { // a leader begins
		if !s.ensemble.single() {
			s.epoch, s.counter = s.epoch+1, 0
		}
		if s.leader == s.id && e.GetTerm() == s.raft.Term() && !s.serving {
			s.serve()
		}
		return
	}
	t, err := decode(e.Data)
	if err != nil {
		s.node.Fail(fmt.Errorf("read an entry of the log of %s: %w", s.node.Name(), err))
		return
	}
	q, _ := parse(t.packet)
	s.counter++
	zxid := s.epoch<<32 | s.counter
	body, failed, events := s.tree.apply(zxid, t, q)
	s.ensemble.applied(s, e.GetIndex(), t, events)
	for _, v := range events {
		s.tell(v)
	}
	if p := s.waiting[t.id]; p != nil {
		delete(s.waiting, t.id)
		if p.done != nil {
			p.done(zxid, failed, body)
		}
	}
	if q.op == opCloseSession {
		delete(s.sessions.ends, t.session)
		delete(s.sessions.closing, t.session)
		for _, x := range slices.Clone(s.conns) {
			if x.session == t.session && !x.over {
				x.hangUp()
			}
		}
	}
}

// tell sends an event to those who watch for it. A watch tells once.
func (s *Server) tell(e event) {
	for _, x := range slices.Clone(s.conns) {
		watched := false
		for _, set := range x.watchesFor(e.kind) {
			watched = watched || set[e.path]
			delete(set, e.path)
		}
		if watched {
			x.notify(e)
		}
	}
}
