package consul

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/raftgroup"
	"locksim/sim/trace"
)

// The times of a server.
const (
	tick          = 500 * time.Millisecond
	electionTicks = 10
	// leaderLease is how long a leader goes on that does not hear a majority.
	leaderLease = 2500 * time.Millisecond
	// gossipRound is how often the leader looks which servers are missed, gossipLimit for how long one is missed
	// until its check serfHealth is critical.
	gossipRound = time.Second
	gossipLimit = 5 * time.Second
	// rpcHold is how long a request waits for a leader (rpc_hold_timeout), rpcTimeout how long for the answer of one
	// (rpc_client_timeout).
	rpcHold     = 7 * time.Second
	rpcHoldStep = rpcHold / 16
	rpcTimeout  = time.Minute
	// destroyRetry is after how long the leader tries again to end a session.
	destroyRetry = time.Second
	// minLag and maxLag bound how long a follower takes to learn that an entry is agreed on.
	minLag, maxLag = 20 * time.Millisecond, 50 * time.Millisecond
	// grace is by what the leader multiplies the TTL of a session.
	grace = 2
)

// server is one server of a cluster. Its methods are for the world's goroutine.
type server struct {
	node    *sim.Node
	cluster *cluster
	id      uint64 // in raft: the number in the name, and 1
	raft    *raftgroup.Member

	memory // of its process
}

// memory is what a server loses when its process ends.
type memory struct {
	life     int  // the number of the process
	off      bool // its machine has lost its power
	applied  uint64
	state    *state
	backlog  []*raftpb.Entry // that a follower has not applied yet
	requests uint64          // numbers the requests of the process
	made     uint64          // the number of sessions that it named

	leader    uint64                   // whom it follows, or 0
	heard     map[uint64]time.Duration // when it last heard each of the others
	ends      map[string]*sim.Timer    // of sessions, on the leader
	endsAt    map[string]time.Duration
	proposed  map[uint64]func(done bool, err error)
	confirms  map[string]func(err error)
	confirmed []applyWait
	forwarded []*work
	queries   []*query
}

// applyWait is what waits for an entry of the log to be applied.
type applyWait struct {
	index uint64
	f     func(err error)
}

func newServer(node *sim.Node, c *cluster) *server {
	s := &server{node: node, cluster: c}
	s.raft = c.group.Add(node, s, electionTicks)
	s.id = s.raft.ID()
	s.start()
	return s
}

// start starts the process: it reads the log again.
func (s *server) start() {
	s.memory = memory{
		life: s.life + 1, applied: raftgroup.FirstIndex, state: newState(), heard: map[uint64]time.Duration{},
		ends: map[string]*sim.Timer{}, endsAt: map[string]time.Duration{},
		proposed: map[uint64]func(bool, error){}, confirms: map[string]func(error){},
	}
	s.raft.Start(0)
}

// run starts what a server does by its clock.
func (s *server) run() {
	s.every(tick, s.heartbeat)
	s.every(gossipRound, s.gossip)
}

// every calls f regularly by the server's clock, until its process ends. A stalled process does nothing.
func (s *server) every(d time.Duration, f func()) {
	life := s.life
	s.node.After(d, func() {
		s.node.WhenServing(func() {
			if s.life == life && !s.node.Down() {
				f()
				s.every(d, f)
			}
		})
	})
}

// leads reports whether the server takes itself for the leader.
func (s *server) leads() bool { return !s.node.Down() && s.leader == s.id }

// Role implements [sim.Ranked]. The offset is the last index of the log that the server has applied.
func (s *server) Role() (role string, offset int64) {
	switch {
	case s.leads():
		role = fmt.Sprintf("leader of term %d", s.raft.Term())
	case s.leader == 0:
		role = "without a leader"
	default:
		role = "follower of " + s.cluster.servers[s.leader-1].node.Name()
	}
	return role, int64(s.applied)
}

// Crash implements [sim.Crasher]. The log is on the disk, whatever the mode. The others notice at once that a process
// has ended, by its connections, and only after some time that a machine has.
func (s *server) Crash(mode faults.CrashMode) {
	s.life++
	if s.off = mode == faults.CrashPower; s.off {
		return
	}
	for _, other := range s.cluster.servers {
		if other != s {
			s.node.Peer(other.node).Send(func() { other.hungUp(s.id) })
		}
	}
}

// Restart implements [sim.Restarter]: the server reads its log, and follows the leader.
func (s *server) Restart(int) {
	s.start()
	s.raft.Pump()
	s.run()
}

// Kept implements [sim.Keeper].
func (s *server) Kept() string { return fmt.Sprintf("a log of %d entries kept", s.raft.Entries()) }

// PeerBack implements [sim.PeerFollower]: a connection that has lost something is made anew.
func (s *server) PeerBack(peer *sim.Node) {
	for _, other := range s.cluster.servers {
		if other.node == peer {
			s.hungUp(other.id)
		}
	}
}

// Heard implements [raftgroup.Hearer].
func (s *server) Heard(from uint64) { s.heard[from] = s.node.Monotonic() }

// hears reports whether the server has heard another one within a time.
func (s *server) hears(other uint64, within time.Duration) bool {
	at, ever := s.heard[other]
	return ever && s.node.Monotonic()-at <= within
}

// heartbeat is what a server does every tick.
func (s *server) heartbeat() {
	s.raft.Tick()
	if !s.leads() {
		return
	}
	count := 1
	for _, other := range s.cluster.servers {
		if other != s && s.hears(other.id, leaderLease) {
			count++
		}
	}
	if count <= len(s.cluster.servers)/2 {
		s.raft.Start(s.applied)
		s.Followed()
	}
}

// gossip is what the leader does every second: it looks which servers are there.
func (s *server) gossip() {
	if !s.leads() {
		return
	}
	for _, other := range s.cluster.servers {
		name := other.node.Name()
		there := other == s || s.hears(other.id, gossipLimit)
		switch {
		case !there && !s.state.failed[name]:
			s.propose("", entry{Op: opFail, Node: name}, func(bool, error) {})
		case there && s.state.failed[name]:
			s.propose("", entry{Op: opPass, Node: name}, func(bool, error) {})
		}
	}
}

// request numbers a request of the server: unlike that of any other process.
func (s *server) request() uint64 {
	s.requests++
	return s.id<<56 | uint64(s.life&0xffff)<<40 | s.requests
}

// propose lets the servers agree on an entry. done is called once, when this server has applied it, or leads no more:
// then it may still be applied.
func (s *server) propose(client string, e entry, done func(done bool, err error)) {
	e.ID = s.request()
	data, err := json.Marshal(e)
	if err != nil {
		s.node.Fail(fmt.Errorf("write an entry of the log of %s: %w", s.node.Name(), err))
		return
	}
	s.cluster.asked[e.ID] = client
	s.proposed[e.ID] = done
	if err := s.raft.Propose(data); err != nil {
		delete(s.proposed, e.ID)
		done(false, errNoLeader)
		return
	}
	s.raft.Pump()
}

// confirm calls f when a majority has confirmed that this server leads, and it has applied all that was agreed on.
func (s *server) confirm(f func(err error)) {
	context := fmt.Sprint(s.request())
	s.confirms[context] = f
	s.raft.ReadIndex(context)
	s.raft.Pump()
}

// Confirmed implements [raftgroup.Machine].
func (s *server) Confirmed(context string, index uint64) {
	if f := s.confirms[context]; f != nil {
		delete(s.confirms, context)
		s.confirmed = append(s.confirmed, applyWait{index, f})
	}
}

// Settled implements [raftgroup.Machine].
func (s *server) Settled() {
	for len(s.confirmed) > 0 && s.applied >= s.confirmed[0].index {
		next := s.confirmed[0]
		s.confirmed = s.confirmed[1:]
		next.f(nil)
	}
}

// Followed implements [raftgroup.Machine].
func (s *server) Followed() {
	before := s.leader
	if s.leader = s.raft.Leader(); s.leader == before {
		return
	}
	switch s.id {
	case before:
		s.stepDown()
	case s.leader:
		s.takeOver()
	}
}

// takeOver begins to lead: each session has the whole time again.
func (s *server) takeOver() {
	s.catchUp(s.applied)
	s.node.Record("", trace.Elected{Term: s.raft.Term()})
	for _, other := range s.cluster.servers {
		s.heard[other.id] = s.node.Monotonic()
	}
	for _, id := range slices.Sorted(maps.Keys(s.state.sessions)) {
		if s.cluster.timed[id] {
			s.cluster.prolonged(s, "", id)
		}
		s.extend(id)
	}
}

// stepDown ends to lead.
func (s *server) stepDown() {
	s.node.Record("", trace.StepDown{Term: s.raft.Term()})
	for _, t := range s.ends {
		t.Stop()
	}
	clear(s.ends)
	clear(s.endsAt)
	proposed, confirms, confirmed := s.proposed, s.confirms, s.confirmed
	s.proposed, s.confirms, s.confirmed = map[uint64]func(bool, error){}, map[string]func(error){}, nil
	for _, id := range slices.Sorted(maps.Keys(proposed)) {
		proposed[id](false, failure("leadership lost while committing log"))
	}
	for _, id := range slices.Sorted(maps.Keys(confirms)) {
		confirms[id](errNoLeader)
	}
	for _, w := range confirmed {
		w.f(errNoLeader)
	}
}

// Apply implements [raftgroup.Machine]. A follower applies the entry a little later.
func (s *server) Apply(r *raftpb.Entry) {
	s.applied = r.GetIndex()
	if r.GetType() != raftpb.EntryNormal || len(r.Data) == 0 {
		return
	}
	s.backlog = append(s.backlog, r)
	if s.leads() {
		s.catchUp(r.GetIndex())
		return
	}
	lag := s.node.Draw("lag").Num(int64(r.GetIndex())).Between(int64(minLag), int64(maxLag))
	s.node.After(time.Duration(lag), func() { s.node.WhenServing(func() { s.catchUp(r.GetIndex()) }) })
}

// catchUp applies what is agreed on, up to an index.
func (s *server) catchUp(index uint64) {
	for len(s.backlog) > 0 && s.backlog[0].GetIndex() <= index {
		next := s.backlog[0]
		s.backlog = s.backlog[1:]
		s.execute(next)
	}
}

func (s *server) execute(r *raftpb.Entry) {
	var e entry
	if err := json.Unmarshal(r.Data, &e); err != nil {
		s.node.Fail(fmt.Errorf("read an entry of the log of %s: %w", s.node.Name(), err))
		return
	}
	done, changed, err := s.state.apply(e, r.GetIndex(), s.node.Monotonic())
	s.cluster.applied(s, r.GetIndex(), e, changed)
	if s.leads() {
		s.measure(e)
	}
	if f := s.proposed[e.ID]; f != nil {
		delete(s.proposed, e.ID)
		f(done, err)
	}
	s.wake()
}

// measure begins and ends the time of sessions.
func (s *server) measure(e entry) {
	if e.Op == opCreate {
		s.extend(e.Session)
	}
	for _, id := range slices.Sorted(maps.Keys(s.ends)) {
		if s.state.sessions[id] == nil {
			s.ends[id].Stop()
			delete(s.ends, id)
			delete(s.endsAt, id)
		}
	}
}

// extend gives a session its whole time, from now on.
func (s *server) extend(id string) {
	x := s.state.sessions[id]
	if x == nil || x.ttl == 0 {
		return
	}
	s.end(id, grace*x.ttl)
}

func (s *server) end(id string, after time.Duration) {
	if t := s.ends[id]; t != nil {
		t.Stop()
	}
	s.endsAt[id] = s.node.Monotonic() + after
	s.ends[id] = s.node.After(after, func() {
		s.node.WhenServing(func() {
			if !s.leads() || s.state.sessions[id] == nil {
				return
			}
			s.node.Record("", trace.Expire{Key: "session " + id})
			s.propose("", entry{Op: opDestroy, Session: id}, func(_ bool, err error) {
				if err != nil && s.leads() {
					s.end(id, destroyRetry)
				}
			})
		})
	})
}

// left is the time that a session has left, as far as this server knows: by the leader's clock, and all of it without
// a leader; 0 for a session without a TTL.
func (s *server) left(id string) time.Duration {
	x := s.state.sessions[id]
	if x == nil || x.ttl == 0 {
		return 0
	}
	leader := s.cluster.leader()
	if at, ok := leader.endsAt[id]; ok && leader.leads() {
		return max(at-leader.node.Monotonic(), 1)
	}
	return grace * x.ttl
}
