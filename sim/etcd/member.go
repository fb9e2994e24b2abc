package etcd

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/raftgroup"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// The times of a member are the defaults of etcd.
const (
	tick          = 100 * time.Millisecond // --heartbeat-interval
	electionTicks = 10                     // --election-timeout
	election      = electionTicks * tick
	// requestTimeout bounds what members do for a request: five seconds for the disk, and two elections.
	requestTimeout = 5*time.Second + 2*election
	// readRetry is how often a member asks the leader again how far a read has to wait.
	readRetry = 500 * time.Millisecond
)

// Server is one member of a cluster. Its methods are for the world's goroutine.
type Server struct {
	node    *sim.Node
	cluster *cluster
	id      uint64 // in raft: the number in the name, and 1
	raft    *raftgroup.Member

	memory // of its process
}

// memory is what a member loses when its process ends.
type memory struct {
	life     int // the number of the process
	applied  uint64
	keyspace *keyspace
	requests uint64 // numbers the requests of the process
	waiting  map[uint64]*proposal
	held     []*proposal // until there is a leader
	reads    reads
	lessor   lessor
	watchers []*watcher
	syncing  bool // a round of syncWatchers is planned
	sessions []*session
	leader   uint64        // whom it follows, or 0
	elected  time.Duration // when the last leader appeared
	ticked   time.Duration
	booted   time.Time // by the wall clock: in the ids of leases
	granted  uint64    // the number of leases that it gave ids
}

// proposal is a request on its way through the log.
type proposal struct {
	id      uint64
	data    []byte
	began   time.Duration
	timeout *sim.Timer
	done    func(proto.Message, error)
}

func newServer(node *sim.Node, c *cluster) *Server {
	s := &Server{node: node, cluster: c}
	s.raft = c.group.Add(node, s, electionTicks)
	s.id = s.raft.ID()
	s.start()
	return s
}

// start starts the process: it reads the log again.
func (s *Server) start() {
	s.memory = memory{
		life: s.life + 1, applied: raftgroup.FirstIndex, keyspace: newKeyspace(), waiting: map[uint64]*proposal{},
		ticked: s.node.Monotonic(), booted: s.node.Now(),
	}
	s.lessor = newLessor(s)
	s.raft.Start(0)
}

// run starts what a member does by its clock.
func (s *Server) run() {
	s.every(tick, func() {
		s.ticked = s.node.Monotonic()
		s.raft.Tick()
	})
	s.every(expiryRound, s.lessor.expire)
}

// every calls f regularly by the member's clock, until its process ends. A stalled process does nothing.
func (s *Server) every(d time.Duration, f func()) {
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

// On finds a member of a world by its name: e0, e1, …, or [Leader]. The error names the servers of the world.
func On(w *sim.World, name string) (*Server, error) {
	node, err := w.Node(name)
	if err != nil {
		return nil, err
	}
	s, ok := node.Server().(*Server)
	if !ok {
		return nil, fmt.Errorf("%s is no etcd member", name)
	}
	return s, nil
}

// Node is the machine on which it runs.
func (s *Server) Node() *sim.Node { return s.node }

// Leads reports whether the member takes itself for the leader. A leader that is cut off does so for up to an election
// timeout.
func (s *Server) Leads() bool { return !s.node.Down() && s.leader == s.id }

// Term is the member's term in raft.
func (s *Server) Term() uint64 { return s.raft.Term() }

// Role implements [sim.Ranked]. The offset is the last index of the log that the member has applied.
func (s *Server) Role() (role string, offset int64) {
	switch {
	case s.Leads():
		role = fmt.Sprintf("leader of term %d", s.Term())
	case s.leader == 0:
		role = "without a leader"
	default:
		role = "follower of " + s.cluster.members[s.leader-1].node.Name()
	}
	return role, int64(s.applied)
}

// Crash implements [sim.Crasher]. The log is on the disk, whatever the mode.
func (s *Server) Crash(faults.CrashMode) {
	s.life++
	s.lessor.stop()
}

// Restart implements [sim.Restarter]: the member reads its log, and follows the leader.
func (s *Server) Restart(int) {
	s.start()
	s.pump()
	s.run()
}

// Leave implements [sim.Leaver].
func (s *Server) Leave() error { return s.raft.Leave() }

// Join implements [sim.Leaver].
func (s *Server) Join() { s.raft.Join() }

// Belongs implements [sim.Leaver].
func (s *Server) Belongs() bool { return s.raft.Belongs() }

// Kept implements [sim.Keeper].
func (s *Server) Kept() string {
	return fmt.Sprintf("a log of %d entries kept", s.raft.Entries())
}

// request numbers a request of the member: unlike that of any other process.
func (s *Server) request() uint64 {
	s.requests++
	return s.id<<56 | uint64(s.life&0xffff)<<40 | s.requests
}

// propose lets the cluster agree on a request. done gets the answer, or the error, once: when this member has executed
// the request, or after the timeout, when the request may still be executed.
func (s *Server) propose(client string, r *pb.InternalRaftRequest, done func(proto.Message, error)) {
	p := &proposal{id: s.request(), began: s.node.Monotonic(), done: done}
	r.Header = &pb.RequestHeader{ID: p.id}
	var err error
	if p.data, err = (proto.MarshalOptions{Deterministic: true}).Marshal(r); err != nil {
		s.node.Fail(fmt.Errorf("marshal a request: %w", err))
		return
	}
	s.waiting[p.id] = p
	s.cluster.asked[p.id] = client
	p.timeout = s.node.After(requestTimeout, func() {
		s.node.WhenServing(func() { s.finish(p, nil, s.timedOut(p.began)) })
	})
	s.enter(p)
	s.pump()
}

// timedOut is the error of a request that began at a time, and has had no answer.
func (s *Server) timedOut(began time.Duration) error {
	if s.elected > 0 && began < s.elected && began > s.elected-2*election {
		s.node.Reached(rare.EtcdLeaderFailed)
		return rpctypes.ErrGRPCTimeoutDueToLeaderFail
	}
	return rpctypes.ErrGRPCTimeout
}

// enter hands a proposal to raft, or holds it until there is a leader.
func (s *Server) enter(p *proposal) {
	if s.raft.Leader() == raft.None {
		s.node.Reached(rare.EtcdHeld)
		s.held = append(s.held, p)
		return
	}
	if err := s.raft.Propose(p.data); err != nil {
		s.finish(p, nil, err)
	}
}

func (s *Server) finish(p *proposal, answer proto.Message, err error) {
	if s.waiting[p.id] != p {
		return
	}
	delete(s.waiting, p.id)
	s.held = slices.DeleteFunc(s.held, func(h *proposal) bool { return h == p })
	p.timeout.Stop()
	p.done(answer, err)
	s.flush()
}

// pump does what raft has to do, until there is nothing more.
func (s *Server) pump() { s.raft.Pump() }

// Confirmed implements [raftgroup.Machine].
func (s *Server) Confirmed(context string, index uint64) { s.reads.confirmed(context, index) }

// Settled implements [raftgroup.Machine].
func (s *Server) Settled() {
	s.reads.serve(s)
	s.flush()
}

// flush sends what the sessions have to send.
func (s *Server) flush() {
	for _, x := range slices.Clone(s.sessions) {
		x.transport.flush()
	}
}

// Followed implements [raftgroup.Machine].
func (s *Server) Followed() {
	before := s.leader
	if s.leader = s.raft.Leader(); s.leader == before {
		return
	}
	switch s.id {
	case before:
		s.lessor.demote()
		s.node.Record("", trace.StepDown{Term: s.Term()})
	case s.leader:
		s.lessor.promote()
		s.node.Record("", trace.Elected{Term: s.Term()})
	}
	if s.leader == raft.None {
		return
	}
	s.elected = s.node.Monotonic()
	if len(s.reads.asked) > 0 {
		s.node.Reached(rare.EtcdReadFailed)
	}
	s.reads.fail(rpctypes.ErrGRPCLeaderChanged)
	held := s.held
	s.held = nil
	for _, p := range held {
		s.enter(p)
	}
}

// Apply implements [raftgroup.Machine].
func (s *Server) Apply(e *raftpb.Entry) {
	s.applied = e.GetIndex()
	if e.GetType() != raftpb.EntryNormal || len(e.Data) == 0 {
		return
	}
	r := &pb.InternalRaftRequest{}
	if err := proto.Unmarshal(e.Data, r); err != nil {
		s.node.Fail(fmt.Errorf("unmarshal an entry of the log of %s: %w", s.node.Name(), err))
		return
	}
	from := len(s.keyspace.events)
	left := s.cluster.leaseLeft
	if r.LeaseRevoke != nil { // the leader forgets it now
		ended := left(raftgroup.Head{Lease: r.LeaseRevoke.ID})
		left = func(raftgroup.Head) trace.TimeLeft { return ended }
	}
	answer, err := s.execute(r)
	s.cluster.applied(s, e.GetIndex(), r, from, left)
	if p := s.waiting[r.Header.ID]; p != nil {
		s.finish(p, answer, err)
	}
	s.notifyWatchers(from)
}

func (s *Server) execute(r *pb.InternalRaftRequest) (proto.Message, error) {
	w := &write{keyspace: s.keyspace}
	switch {
	case r.Put != nil:
		return answer(w.put(r.Put))
	case r.DeleteRange != nil:
		return w.deleteRange(r.DeleteRange), nil
	case r.Txn != nil:
		return answer(w.txn(r.Txn))
	case r.Compaction != nil:
		return answer(w.compact(r.Compaction))
	case r.LeaseGrant != nil:
		a, err := w.grant(r.LeaseGrant)
		if err == nil {
			s.lessor.granted(a.ID)
		}
		return answer(a, err)
	case r.LeaseRevoke != nil:
		a, err := w.revoke(r.LeaseRevoke)
		if err == nil {
			s.lessor.revoked(r.LeaseRevoke.ID)
		}
		return answer(a, err)
	}
	return nil, fmt.Errorf("etcd: a request that no member proposes: %v", r)
}

// inner is the client's request in what the members agree on.
func inner(r *pb.InternalRaftRequest) proto.Message {
	switch {
	case r.Put != nil:
		return r.Put
	case r.DeleteRange != nil:
		return r.DeleteRange
	case r.LeaseRevoke != nil:
		return r.LeaseRevoke
	}
	return r.Txn
}

// answer makes an answer or an error of the two: an interface that has a nil pointer is not nil.
func answer[T proto.Message](m T, err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// reads are the reads that have to see all that was written before them. Those that come while the leader is asked wait
// for the next time.
type reads struct {
	next    []func(error)
	asked   []func(error)
	context string // of the request to the leader; empty if there is none
	index   uint64 // the answer; 0 if there is none
}

// linearizable calls f when the member has applied all that the cluster had agreed on when it was called.
func (s *Server) linearizable(f func(error)) {
	s.reads.next = append(s.reads.next, f)
	s.reads.ask(s)
	s.pump()
}

// ask asks the leader how far the reads have to wait, if it was not asked yet.
func (r *reads) ask(s *Server) {
	if len(r.asked) > 0 || len(r.next) == 0 {
		return
	}
	r.asked, r.next = r.next, nil
	r.context, r.index = string(binary.BigEndian.AppendUint64(nil, s.request())), 0
	context, began := r.context, s.node.Monotonic()
	s.raft.ReadIndex(context)
	s.retryRead(context, began)
}

// retryRead asks again until there is an answer.
func (s *Server) retryRead(context string, began time.Duration) {
	life := s.life
	s.node.After(readRetry, func() {
		s.node.WhenServing(func() {
			switch {
			case s.life != life || s.reads.context != context || s.reads.index > 0:
				return
			case s.node.Monotonic()-began >= requestTimeout:
				s.reads.fail(rpctypes.ErrGRPCTimeout)
				s.reads.ask(s)
			default:
				s.raft.ReadIndex(context)
				s.retryRead(context, began)
			}
			s.pump()
		})
	})
}

// confirmed takes the leader's answer.
func (r *reads) confirmed(context string, index uint64) {
	if r.context == context {
		r.index = index
	}
}

func (r *reads) serve(s *Server) {
	if r.index == 0 || s.applied < r.index {
		return
	}
	ready := r.asked
	r.asked, r.context, r.index = nil, "", 0
	for _, f := range ready {
		f(nil)
	}
	r.ask(s)
	s.pump()
}

// fail fails the reads for which the leader was asked.
func (r *reads) fail(err error) {
	failed := r.asked
	r.asked, r.context, r.index = nil, "", 0
	for _, f := range failed {
		f(err)
	}
}
