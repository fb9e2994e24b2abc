package oracle_test

import (
	"context"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// build makes a request for a runner.
type build[Q proto.Message] func(r *runner) Q

// requestOf is the step of a request to the keys.
func requestOf[Q, A proto.Message](name string, draw func() build[Q], call func(pb.KVClient, context.Context, Q,
	...grpc.CallOption) (A, error)) step {
	b := draw()
	text := name + " {" + strings.Join(strings.Fields(prototext.Format(b(&runner{}))), " ") + "}"
	return step{text, func(ctx context.Context, r *runner) string {
		return answer[A](r)(call(r.kv, ctx, b(r)))
	}}
}

func (d *drawer) put() build[*pb.PutRequest] {
	key, value, id := d.keyName(), pick(d, "1", "2", "3"), d.leaseID()
	prev, ignoreValue, ignoreLease := d.once(3), d.once(12), d.once(12)
	if d.release == etcd34 && (ignoreValue || ignoreLease) {
		id = 0
	}
	if ignoreValue && !d.once(4) {
		value = ""
	}
	return func(r *runner) *pb.PutRequest {
		q := &pb.PutRequest{Key: r.key(key), Value: []byte(value), PrevKv: prev, IgnoreValue: ignoreValue,
			IgnoreLease: ignoreLease}
		if id != 0 {
			q.Lease = id + r.ids
		}
		return q
	}
}

func (d *drawer) get() build[*pb.RangeRequest] {
	key, end := d.span()
	rev := d.revision()
	shape := &pb.RangeRequest{}
	switch d.IntN(6) {
	case 0:
		shape.Limit = 1 + d.Int64N(3)
	case 1:
		shape.KeysOnly = d.release != etcd34
	case 2:
		shape.CountOnly = true
	case 3:
		shape.SortOrder = pick(d, pb.RangeRequest_ASCEND, pb.RangeRequest_DESCEND)
		// Keys with the same value, version or revision could come in any order, and all are in the order of their names.
		shape.SortTarget = pick(d, pb.RangeRequest_KEY, pb.RangeRequest_MOD)
		shape.Limit = d.Int64N(3)
	}
	var least, most, created, createdBy int64
	if d.once(4) {
		least, most, created, createdBy = d.revision(), d.revision(), d.revision(), d.revision()
	}
	serializable := d.once(4)
	return func(r *runner) *pb.RangeRequest {
		q := proto.Clone(shape).(*pb.RangeRequest)
		q.Key, q.RangeEnd, q.Revision, q.Serializable = r.key(key), r.keyEnd(end), r.rev(rev), serializable
		q.MinModRevision, q.MaxModRevision = r.rev(least), r.rev(most)
		q.MinCreateRevision, q.MaxCreateRevision = r.rev(created), r.rev(createdBy)
		return q
	}
}

func (d *drawer) remove() build[*pb.DeleteRangeRequest] {
	key, end := d.span()
	prev := d.once(3)
	return func(r *runner) *pb.DeleteRangeRequest {
		return &pb.DeleteRangeRequest{Key: r.key(key), RangeEnd: r.keyEnd(end), PrevKv: prev}
	}
}

// txn is a transaction, which has others in it down to a depth.
func (d *drawer) txn(depth int) build[*pb.TxnRequest] {
	var compares []build[*pb.Compare]
	for range d.IntN(3) {
		compares = append(compares, d.compare())
	}
	success, failure := d.ops(depth), d.ops(depth)
	return func(r *runner) *pb.TxnRequest {
		q := &pb.TxnRequest{}
		for _, c := range compares {
			q.Compare = append(q.Compare, c(r))
		}
		for _, o := range success {
			q.Success = append(q.Success, o(r))
		}
		for _, o := range failure {
			q.Failure = append(q.Failure, o(r))
		}
		return q
	}
}

func (d *drawer) compare() build[*pb.Compare] {
	key, end := d.keyName(), ""
	if d.once(5) {
		key, end = d.span()
	}
	result := pick(d, pb.Compare_EQUAL, pb.Compare_EQUAL, pb.Compare_GREATER, pb.Compare_LESS, pb.Compare_NOT_EQUAL)
	target := pick(d, pb.Compare_CREATE, pb.Compare_CREATE, pb.Compare_MOD, pb.Compare_VALUE, pb.Compare_VERSION,
		pb.Compare_LEASE)
	n, value, id := d.Int64N(12), pick(d, "1", "2", ""), d.leaseID()
	return func(r *runner) *pb.Compare {
		c := &pb.Compare{Key: r.key(key), RangeEnd: r.keyEnd(end), Result: result, Target: target}
		switch target {
		case pb.Compare_CREATE:
			c.TargetUnion = &pb.Compare_CreateRevision{CreateRevision: r.rev(n)}
		case pb.Compare_MOD:
			c.TargetUnion = &pb.Compare_ModRevision{ModRevision: r.rev(n)}
		case pb.Compare_VALUE:
			c.TargetUnion = &pb.Compare_Value{Value: []byte(value)}
		case pb.Compare_VERSION:
			c.TargetUnion = &pb.Compare_Version{Version: n % 4}
		case pb.Compare_LEASE:
			if id != 0 {
				id += r.ids
			}
			c.TargetUnion = &pb.Compare_Lease{Lease: id}
		}
		return c
	}
}

func (d *drawer) ops(depth int) []build[*pb.RequestOp] {
	var out []build[*pb.RequestOp]
	for range d.IntN(4) {
		switch n := d.IntN(7); {
		case n < 3:
			b := d.put()
			out = append(out, func(r *runner) *pb.RequestOp {
				return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: b(r)}}
			})
		case n < 5:
			b := d.get()
			if d.release == etcd34 {
				b = now(b)
			}
			out = append(out, func(r *runner) *pb.RequestOp {
				return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: b(r)}}
			})
		case n < 6 || depth == 0:
			b := d.remove()
			out = append(out, func(r *runner) *pb.RequestOp {
				return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: b(r)}}
			})
		default:
			b := d.txn(depth - 1)
			out = append(out, func(r *runner) *pb.RequestOp {
				return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: b(r)}}
			})
		}
	}
	return out
}

// now is a read at the present revision.
func now(b build[*pb.RangeRequest]) build[*pb.RangeRequest] {
	return func(r *runner) *pb.RangeRequest {
		q := b(r)
		q.Revision = 0
		return q
	}
}
