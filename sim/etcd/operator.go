package etcd

import (
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"locksim/faults"
	"locksim/sim/raftgroup"
	"locksim/sim/trace"
)

// locked are the keys that have the watched locks, as this member knows: of a queue that of who is first.
func (s *Server) locked() (keys []string, heads []raftgroup.Head) {
	if s.node.Down() {
		return nil, nil
	}
	for _, name := range s.cluster.truth.Watched() {
		h := s.cluster.head(s.keyspace, name)
		switch {
		case h.Value == "":
			continue
		case isQueue(name):
			name = h.Value
		}
		keys, heads = append(keys, name), append(heads, h)
	}
	return keys, heads
}

// EditKeys implements [faults.KeyEditor].
func (s *Server) EditKeys(how faults.Edit) (done bool, err error) {
	keys, _ := s.locked()
	s.node.Strike(trace.Operate{Does: string(how), Of: keys})
	for _, key := range keys {
		r := &pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)}}
		if how == faults.EditOverwrite {
			r = &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte(key), Value: []byte(faults.Operator)}}
		}
		s.propose(faults.Operator, r, func(proto.Message, error) {})
	}
	return len(keys) > 0, nil
}

// EndSessions implements [faults.SessionEnder]: it revokes the leases of the keys.
func (s *Server) EndSessions() bool {
	_, heads := s.locked()
	var leases []int64
	var words []string
	for _, h := range heads {
		if h.Lease != 0 {
			leases, words = append(leases, h.Lease), append(words, fmt.Sprintf("%x", h.Lease))
		}
	}
	s.node.Strike(trace.Operate{Does: trace.EndsSession, Of: words})
	for _, id := range leases {
		r := &pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: id}}
		s.propose(faults.Operator, r, func(proto.Message, error) {})
	}
	return len(leases) > 0
}
