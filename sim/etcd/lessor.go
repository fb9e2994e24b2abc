package etcd

import (
	"fmt"
	"maps"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/protobuf/proto"

	"locksim/sim/rare"
	"locksim/sim/trace"
)

// The bounds of a lease, in seconds. The lower one is one and a half election timeouts.
const (
	minTTL = 2
	maxTTL = 9_000_000_000
)

const (
	// expiryRound is how often the leader looks for leases that are over.
	expiryRound = 500 * time.Millisecond
	// expiryRetry is after how long it proposes their end again, if the cluster has not agreed.
	expiryRetry = 3 * time.Second
	// forwardRetry is after how long a member that does not lead asks the leader again.
	forwardRetry = 50 * time.Millisecond
)

// lessor measures leases. Only the leader's counts: by its monotonic clock. A new leader gives each lease its whole TTL
// again, and an election timeout.
type lessor struct {
	server *Server
	ends   map[int64]time.Duration // by lease, on the leader's monotonic clock; nil: it does not lead
	asked  map[int64]time.Duration // when it proposed the end of a lease
	late   map[int64][]func()      // renewals of leases that are over, until these are revoked
}

func newLessor(s *Server) lessor {
	return lessor{server: s, asked: map[int64]time.Duration{}, late: map[int64][]func(){}}
}

func (l *lessor) leads() bool { return l.ends != nil }

// promote begins to measure.
func (l *lessor) promote() {
	l.ends = map[int64]time.Duration{}
	leases := slices.Collect(maps.Keys(l.server.keyspace.leases))
	if len(leases) > 0 {
		l.server.node.Reached(rare.EtcdLengthened)
	}
	l.server.cluster.prolonged(l.server, "", leases...)
	for _, id := range leases {
		l.extend(id, election)
	}
}

// demote ends it.
func (l *lessor) demote() {
	l.ends = nil
	clear(l.asked)
	l.answerLate(slices.Sorted(maps.Keys(l.late))...)
}

// stop ends it with the process.
func (l *lessor) stop() { l.ends, l.late = nil, map[int64][]func(){} }

// answerLate lets renewals look again, in the order of their leases.
func (l *lessor) answerLate(ids ...int64) {
	for _, id := range ids {
		late := l.late[id]
		delete(l.late, id)
		for _, f := range late {
			f()
		}
	}
}

// extend makes a lease last for its TTL from now on, and more.
func (l *lessor) extend(id int64, more time.Duration) {
	ttl := time.Duration(l.server.keyspace.leases[id].ttl) * time.Second
	l.ends[id] = l.server.node.Monotonic() + ttl + more
	delete(l.asked, id)
}

// granted takes note of a new lease.
func (l *lessor) granted(id int64) {
	if l.leads() {
		l.extend(id, 0)
	}
}

// revoked takes note of the end of a lease.
func (l *lessor) revoked(id int64) {
	delete(l.ends, id)
	delete(l.asked, id)
	l.answerLate(id)
}

// left is the time that a lease has left, on the leader.
func (l *lessor) left(id int64) time.Duration { return l.ends[id] - l.server.node.Monotonic() }

// expire proposes the end of the leases that are over.
func (l *lessor) expire() {
	s := l.server
	if !l.leads() || !s.active() {
		return
	}
	now := s.node.Monotonic()
	for _, id := range slices.Sorted(maps.Keys(l.ends)) {
		if asked, ok := l.asked[id]; l.left(id) > 0 || ok && now-asked < expiryRetry {
			continue
		}
		l.asked[id] = now
		s.node.Record("", trace.Expire{Key: "lease " + leaseName(id)})
		s.propose("", &pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: id}}, func(proto.Message, error) {})
	}
}

// active reports whether the process runs: a leader that was stopped asks the others before it goes by its leases.
func (s *Server) active() bool { return s.node.Monotonic()-s.ticked <= 3*tick }

// leaseName is a lease in words, as etcdctl writes it.
func leaseName(id int64) string { return fmt.Sprintf("%x", id) }

// renew renews a lease for a client: on the leader, whom other members ask. It gives the TTL, 0 for a lease that does
// not exist.
func (s *Server) renew(client string, id int64, done func(ttl int64, err error)) {
	if s.Leads() {
		s.ensureLeadership(func(leads bool) {
			if leads {
				s.renewHere(client, id, func(ttl int64, notLeader bool) {
					if notLeader {
						s.forward(client, id, done)
						return
					}
					done(ttl, nil)
				})
				return
			}
			done(0, rpctypes.ErrGRPCNotLeader)
		})
		return
	}
	s.forward(client, id, done)
}

// ensureLeadership asks the others if the process was stopped before.
func (s *Server) ensureLeadership(f func(leads bool)) {
	if s.active() {
		f(true)
		return
	}
	s.node.Reached(rare.EtcdPausedLeader)
	s.linearizable(func(err error) { f(err == nil && s.Leads()) })
}

// renewHere renews a lease on the leader. One that is over is not renewed: the answer waits until the cluster has ended
// it, or another leader has given it more time.
func (s *Server) renewHere(client string, id int64, done func(ttl int64, notLeader bool)) {
	switch l := &s.lessor; {
	case !l.leads():
		done(0, true)
	case s.keyspace.leases[id] == nil:
		done(0, false)
	case l.left(id) <= 0:
		s.node.Reached(rare.EtcdLateRenewal)
		l.late[id] = append(l.late[id], func() { s.renewHere(client, id, done) })
	default:
		s.cluster.prolonged(s, client, id)
		l.extend(id, 0)
		done(s.keyspace.leases[id].ttl, false)
	}
}

// forward asks the leader to renew a lease, until it answers.
func (s *Server) forward(client string, id int64, done func(ttl int64, err error)) {
	over := false
	finish := func(ttl int64, err error) {
		if !over {
			over = true
			done(ttl, err)
			s.flush()
		}
	}
	timeout := s.node.After(requestTimeout, func() {
		s.node.WhenServing(func() { finish(0, rpctypes.ErrGRPCTimeout) })
	})
	life := s.life
	var try func()
	again := func() { s.node.After(forwardRetry, func() { s.node.WhenServing(try) }) }
	try = func() {
		switch {
		case over || s.life != life:
			return
		case s.leader == 0:
			again()
			return
		case s.leader == s.id:
			s.renewHere(client, id, func(ttl int64, notLeader bool) {
				if notLeader {
					again()
					return
				}
				timeout.Stop()
				finish(ttl, nil)
			})
			return
		}
		to := s.cluster.members[s.leader-1]
		s.node.Peer(to.node).Send(func() {
			to.renewHere(client, id, func(ttl int64, notLeader bool) {
				to.node.Peer(s.node).Send(func() {
					switch {
					case over || s.life != life:
					case notLeader:
						s.node.Reached(rare.EtcdAskedAgain)
						again()
					default:
						timeout.Stop()
						finish(ttl, nil)
					}
				})
			})
		})
	}
	try()
}

// timeToLive is the rest of a lease, from the leader's lessor. An unknown lease has -1.
func (s *Server) timeToLive(r *pb.LeaseTimeToLiveRequest) *pb.LeaseTimeToLiveResponse {
	l := s.keyspace.leases[r.ID]
	if l == nil || s.lessor.left(r.ID) <= 0 {
		return &pb.LeaseTimeToLiveResponse{Header: s.keyspace.header(), ID: r.ID, TTL: -1}
	}
	a := &pb.LeaseTimeToLiveResponse{Header: s.keyspace.header(), ID: r.ID, TTL: int64(s.lessor.left(r.ID) / time.Second),
		GrantedTTL: l.ttl}
	if r.Keys {
		for _, name := range l.sorted() {
			a.Keys = append(a.Keys, []byte(name))
		}
	}
	return a
}
