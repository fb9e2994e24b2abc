package etcd

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"locksim/sim"
	"locksim/sim/trace"
)

// The methods that a member has.
const (
	methodRange      = "/etcdserverpb.KV/Range"
	methodPut        = "/etcdserverpb.KV/Put"
	methodDelete     = "/etcdserverpb.KV/DeleteRange"
	methodTxn        = "/etcdserverpb.KV/Txn"
	methodCompact    = "/etcdserverpb.KV/Compact"
	methodGrant      = "/etcdserverpb.Lease/LeaseGrant"
	methodRevoke     = "/etcdserverpb.Lease/LeaseRevoke"
	methodKeepAlive  = "/etcdserverpb.Lease/LeaseKeepAlive"
	methodTimeToLive = "/etcdserverpb.Lease/LeaseTimeToLive"
	methodLeases     = "/etcdserverpb.Lease/LeaseLeases"
	methodWatch      = "/etcdserverpb.Watch/Watch"
)

// session is a member's end of one connection.
type session struct {
	server    *Server
	conn      *sim.ServerConn
	transport *transport
	watches   map[*call]int64 // the next id of a watch, by stream
	over      bool
}

// Accept implements [sim.Server].
func (s *Server) Accept(c *sim.ServerConn) sim.Session {
	x := &session{server: s, conn: c, watches: map[*call]int64{}}
	x.transport = newTransport(x, c.Send)
	x.transport.flush()
	s.sessions = append(s.sessions, x)
	return x
}

// JoinWrites implements [sim.Joiner]: gRPC writes one message in pieces, in an order that the scheduler determines.
func (s *Server) JoinWrites() {}

// Describe implements [sim.Describer]. The bytes of gRPC depend on the order in which the client's goroutines write, so
// that the trace has only the number of messages in them: the calls are events of their own.
func (s *Server) Describe(_ sim.Direction, b []byte) trace.Content { return Piece{messagesIn(b)} }

// Data implements [sim.Session].
func (x *session) Data(b []byte) {
	if err := x.transport.receive(b); err != nil {
		x.leave()
		x.conn.Finish()
		return
	}
	x.server.pump()
}

// EOF implements [sim.Session].
func (x *session) EOF() {
	x.leave()
	x.conn.Finish()
}

// Reset implements [sim.Session].
func (x *session) Reset() { x.leave() }

// leave ends the calls of the connection.
func (x *session) leave() {
	if x.over {
		return
	}
	x.over = true
	x.server.sessions = slices.DeleteFunc(x.server.sessions, func(y *session) bool { return y == x })
	x.transport.dropAll()
}

func (x *session) header() *pb.ResponseHeader { return x.server.keyspace.header() }

// record adds a call to the trace. An answer of nil is for one that has no answer yet, or needs none.
func (x *session) record(request, answer trace.Content) int {
	return x.server.node.Record(x.conn.Client(), trace.Exec{Conn: x.conn.Name(), Request: request, Answer: answer})
}

// isStream reports whether a call has many messages.
func isStream(c *call) bool { return c.method == methodWatch || c.method == methodKeepAlive }

// begin implements [service].
func (x *session) begin(c *call) {
	if c.leader && x.server.leader == raft.None {
		c.end(rpctypes.ErrGRPCNoLeader)
		return
	}
	if isStream(c) {
		c.start()
		if c.leader {
			x.watchLeader(c)
		}
	}
}

// watchLeader ends a stream that wants a leader when there has been none for three election timeouts.
func (x *session) watchLeader(c *call) {
	s := x.server
	life, without := s.life, 0
	var look func()
	look = func() {
		if c.over || s.life != life {
			return
		}
		without++
		if s.leader != raft.None {
			without = 0
		}
		if without >= 3 {
			x.forget(c)
			c.end(rpctypes.ErrGRPCNoLeader)
			s.flush()
			return
		}
		s.node.After(election, func() { s.node.WhenServing(look) })
	}
	s.node.After(election, func() { s.node.WhenServing(look) })
}

// closed implements [service].
func (x *session) closed(c *call) {
	if isStream(c) {
		x.forget(c)
		c.end(nil)
	}
}

// cancelled implements [service].
func (x *session) cancelled(c *call) { x.forget(c) }

// forget ends the watches of a stream.
func (x *session) forget(c *call) {
	x.server.watchers = slices.DeleteFunc(x.server.watchers, func(w *watcher) bool { return w.call == c })
	delete(x.watches, c)
}

// message implements [service].
func (x *session) message(c *call, b []byte) {
	s := x.server
	switch c.method {
	case methodRange:
		r := &pb.RangeRequest{}
		if !x.parse(c, b, r) || x.refuse(c, r, checkRange(r)) {
			return
		}
		read := func() { x.finish(c, r)(answer(s.keyspace.read(r))) }
		if r.Serializable {
			read()
			return
		}
		s.linearizable(func(err error) {
			if err != nil {
				x.finish(c, r)(nil, err)
				return
			}
			read()
		})
	case methodPut:
		r := &pb.PutRequest{}
		if x.parse(c, b, r) && !x.refuse(c, r, checkPut(r)) {
			x.propose(c, r, &pb.InternalRaftRequest{Put: r})
		}
	case methodDelete:
		r := &pb.DeleteRangeRequest{}
		if x.parse(c, b, r) && !x.refuse(c, r, checkDelete(r)) {
			x.propose(c, r, &pb.InternalRaftRequest{DeleteRange: r})
		}
	case methodTxn:
		r := &pb.TxnRequest{}
		if x.parse(c, b, r) && !x.refuse(c, r, checkTxn(r)) {
			x.transact(c, r)
		}
	case methodCompact:
		r := &pb.CompactionRequest{}
		if x.parse(c, b, r) {
			x.propose(c, r, &pb.InternalRaftRequest{Compaction: r})
		}
	case methodGrant:
		r := &pb.LeaseGrantRequest{}
		if x.parse(c, b, r) {
			asked := &pb.LeaseGrantRequest{ID: r.ID, TTL: r.TTL}
			for r.ID == 0 {
				r.ID = s.leaseID()
			}
			x.propose(c, asked, &pb.InternalRaftRequest{LeaseGrant: r})
		}
	case methodRevoke:
		r := &pb.LeaseRevokeRequest{}
		if x.parse(c, b, r) {
			x.propose(c, r, &pb.InternalRaftRequest{LeaseRevoke: r})
		}
	case methodKeepAlive:
		r := &pb.LeaseKeepAliveRequest{}
		if x.parse(c, b, r) {
			s.renew(x.conn.Client(), r.ID, func(ttl int64, err error) {
				a := &pb.LeaseKeepAliveResponse{Header: x.header(), ID: r.ID, TTL: ttl}
				x.record(Request{r}, answered(a, err))
				if err != nil {
					c.end(err)
				} else {
					c.reply(a)
				}
				s.flush()
			})
		}
	case methodTimeToLive:
		r := &pb.LeaseTimeToLiveRequest{}
		if x.parse(c, b, r) {
			x.onLeader(func(leader *Server) proto.Message { return leader.timeToLive(r) }, x.finish(c, r))
		}
	case methodLeases:
		r := &pb.LeaseLeasesRequest{}
		if x.parse(c, b, r) {
			x.finish(c, r)(s.keyspace.list(), nil)
		}
	case methodWatch:
		r := &pb.WatchRequest{}
		if x.parse(c, b, r) {
			x.watch(c, r)
		}
	default:
		err := status.Error(codes.Unimplemented, "unknown method "+c.method+": this etcd is one of locksim, and does not "+
			"have it")
		x.record(unknownMethod(c.method), answered(nil, err))
		c.end(err)
	}
}

// parse reads a message. One that cannot be read ends the call.
func (x *session) parse(c *call, b []byte, m proto.Message) bool {
	if err := proto.Unmarshal(b, m); err != nil {
		c.end(status.Error(codes.Internal, "etcd: the message cannot be read: "+err.Error()))
		return false
	}
	return true
}

// refuse ends a call whose request has an error.
func (x *session) refuse(c *call, r proto.Message, err error) bool {
	if err != nil {
		x.finish(c, r)(nil, err)
	}
	return err != nil
}

// finish is a function that answers a call, and records it.
func (x *session) finish(c *call, r proto.Message) func(proto.Message, error) {
	return func(a proto.Message, err error) {
		x.record(Request{r}, answered(a, err))
		if err == nil {
			c.reply(a)
		}
		c.end(err)
		x.transport.flush()
	}
}

// propose lets the cluster agree on the request of a call.
func (x *session) propose(c *call, r proto.Message, p *pb.InternalRaftRequest) {
	x.server.propose(x.conn.Client(), p, x.finish(c, r))
}

// transact executes a transaction. One that only reads is not agreed on: it is a read.
func (x *session) transact(c *call, r *pb.TxnRequest) {
	if !readOnly(r) {
		x.propose(c, r, &pb.InternalRaftRequest{Txn: r})
		return
	}
	read := func(err error) {
		if err != nil {
			x.finish(c, r)(nil, err)
			return
		}
		x.finish(c, r)(answer((&write{keyspace: x.server.keyspace}).txn(r)))
		x.server.cluster.answered(x, r)
	}
	if serializable(r) {
		read(nil)
		return
	}
	x.server.linearizable(read)
}

// readOnly reports whether a transaction can write nothing.
func readOnly(r *pb.TxnRequest) bool {
	return !slices.ContainsFunc(slices.Concat(r.Success, r.Failure),
		func(op *pb.RequestOp) bool { return op.GetRequestRange() == nil })
}

// serializable reports whether all reads of a transaction may be stale.
func serializable(r *pb.TxnRequest) bool {
	return !slices.ContainsFunc(slices.Concat(r.Success, r.Failure), func(op *pb.RequestOp) bool {
		return op.GetRequestRange() == nil || !op.GetRequestRange().Serializable
	})
}

// onLeader asks the leader. The answer is an error if there is none.
func (x *session) onLeader(ask func(leader *Server) proto.Message, done func(proto.Message, error)) {
	s := x.server
	switch s.leader {
	case raft.None:
		done(nil, rpctypes.ErrGRPCNoLeader)
		return
	case s.id:
		done(ask(s), nil)
		return
	}
	life, leader := s.life, s.cluster.members[s.leader-1]
	s.node.Peer(leader.node).Send(func() {
		var a proto.Message
		var err error
		if leader.Leads() {
			a = ask(leader)
		} else {
			err = rpctypes.ErrGRPCNotLeader
		}
		leader.node.Peer(s.node).Send(func() {
			if s.life == life {
				done(a, err)
				s.flush()
			}
		})
	})
}

// leaseID makes the id of a lease as etcd does: from the member, its wall clock when it began, and a number.
func (s *Server) leaseID() int64 {
	id := s.id<<48 | (uint64(s.booted.UnixMilli())&(1<<40-1))<<8 + s.granted
	s.granted++
	return int64(id & (1<<63 - 1))
}

func (k *keyspace) list() *pb.LeaseLeasesResponse {
	a := &pb.LeaseLeasesResponse{Header: k.header()}
	for id := range k.leases {
		a.Leases = append(a.Leases, &pb.LeaseStatus{ID: id})
	}
	slices.SortFunc(a.Leases, func(a, b *pb.LeaseStatus) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return a
}
