package etcd

import (
	"maps"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// This file has what a member refuses before it asks the others.

// maxOps is the number of operations of a transaction.
const maxOps = 128

func checkRange(r *pb.RangeRequest) error {
	switch {
	case len(r.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case pb.RangeRequest_SortOrder_name[int32(r.SortOrder)] == "" ||
		pb.RangeRequest_SortTarget_name[int32(r.SortTarget)] == "":
		return rpctypes.ErrGRPCInvalidSortOption
	}
	return nil
}

func checkPut(r *pb.PutRequest) error {
	switch {
	case len(r.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case r.IgnoreValue && len(r.Value) > 0:
		return rpctypes.ErrGRPCValueProvided
	case r.IgnoreLease && r.Lease != 0:
		return rpctypes.ErrGRPCLeaseProvided
	}
	return nil
}

func checkDelete(r *pb.DeleteRangeRequest) error {
	if len(r.Key) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	return nil
}

// checkTxn checks a transaction, and those in it. Its puts must not write a key that it puts or deletes elsewhere.
func checkTxn(r *pb.TxnRequest) error {
	if err := checkOps(r); err != nil {
		return err
	}
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		if _, _, err := written(ops); err != nil {
			return err
		}
	}
	return nil
}

func checkOps(r *pb.TxnRequest) error {
	if max(len(r.Compare), len(r.Success), len(r.Failure)) > maxOps {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, c := range r.Compare {
		if len(c.Key) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
	}
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range ops {
			var err error
			switch o := op.Request.(type) {
			case *pb.RequestOp_RequestRange:
				err = checkRange(o.RequestRange)
			case *pb.RequestOp_RequestPut:
				err = checkPut(o.RequestPut)
			case *pb.RequestOp_RequestDeleteRange:
				err = checkDelete(o.RequestDeleteRange)
			case *pb.RequestOp_RequestTxn:
				err = checkOps(o.RequestTxn)
			default:
				err = rpctypes.ErrGRPCKeyNotFound
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// written are the keys that a list of operations puts, and the ranges that it deletes. No two operations may put one
// key, and none may put what another deletes. A transaction among the operations may put a key in both of its branches,
// since only one of them is executed. As etcd does, what such a transaction deletes counts for what comes after it.
func written(ops []*pb.RequestOp) (puts map[string]bool, deletes []*pb.DeleteRangeRequest, err error) {
	puts = map[string]bool{}
	for _, op := range ops {
		if d := op.GetRequestDeleteRange(); d != nil {
			deletes = append(deletes, d)
		}
	}
	taken := func(key string) bool {
		return puts[key] || slices.ContainsFunc(deletes,
			func(d *pb.DeleteRangeRequest) bool { return within(key, d.Key, d.RangeEnd) })
	}
	for _, op := range ops {
		t := op.GetRequestTxn()
		if t == nil {
			continue
		}
		both := map[string]bool{}
		var nested []*pb.DeleteRangeRequest
		for _, branch := range [][]*pb.RequestOp{t.Success, t.Failure} {
			p, d, err := written(branch)
			if err != nil {
				return nil, nil, err
			}
			maps.Copy(both, p)
			nested = append(nested, d...)
		}
		for key := range both {
			if taken(key) {
				return nil, nil, rpctypes.ErrGRPCDuplicateKey
			}
		}
		maps.Copy(puts, both)
		deletes = append(deletes, nested...)
	}
	for _, op := range ops {
		p := op.GetRequestPut()
		if p == nil {
			continue
		}
		if taken(string(p.Key)) {
			return nil, nil, rpctypes.ErrGRPCDuplicateKey
		}
		puts[string(p.Key)] = true
	}
	return puts, deletes, nil
}
