package etcd

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"locksim/sim/trace"
)

// Protected says how clients keep the protected data of a run in the cluster, by transactions. The trace has a
// [trace.Decision] for each transaction about it then, as for the operations of the store: of one that writes where the
// first member applies it.
type Protected struct {
	// Of is the operation that a transaction is about; ok is false for every other one. Its reads change nothing, and it
	// has written if it has changed a key.
	Of func(r *pb.TxnRequest) (op trace.Decision, ok bool)
	// Where is the key of a register.
	Where func(resource, register string) (key string)
}

// decided records what a transaction that writes has decided, from the events that a member has applied.
func (c *cluster) decided(s *Server, r *pb.InternalRaftRequest, from int) {
	if c.protected == nil || r.Txn == nil {
		return
	}
	if op, ok := c.protected.Of(r.Txn); ok {
		if from == len(s.keyspace.events) {
			op.Refused = "the revision is another"
		}
		s.node.Record(c.asked[r.Header.ID], op)
	}
}

// answered records a transaction that only reads, and was answered.
func (c *cluster) answered(x *session, r *pb.TxnRequest) {
	if c.protected == nil {
		return
	}
	if op, ok := c.protected.Of(r); ok {
		op.Conn = x.conn.Name()
		x.server.node.Record(x.conn.Client(), op)
	}
}

// Value is the value of a register of the protected data, "" if there is none: that of the member that has applied
// most.
func (s *Server) Value(resource, register string) string {
	p := s.cluster.protected
	if p == nil {
		return ""
	}
	latest := slices.MaxFunc(s.cluster.members, func(a, b *Server) int { return int(a.applied) - int(b.applied) })
	v := latest.keyspace.at(p.Where(resource, register), latest.keyspace.revision)
	if v == nil {
		return ""
	}
	return string(v.Value)
}
