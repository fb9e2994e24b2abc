package etcd

import (
	"bytes"
	"cmp"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// keyspace is the replicated state of a member: the keys with all their versions, and the leases. It is a state
// machine: it has no clock, and equal requests in an equal order make equal keyspaces. Which of the leases are over is
// for the leader to say.
type keyspace struct {
	revision  int64
	compacted int64    // -1 before the first compaction
	names     []string // of all keys that ever were, sorted
	versions  map[string][]*mvccpb.Event
	events    []*mvccpb.Event // of all keys, in the order of their revisions
	leases    map[int64]*lease
}

// lease is a lease as all members know it.
type lease struct {
	id, ttl int64 // in seconds
	keys    map[string]bool
}

func newKeyspace() *keyspace {
	return &keyspace{revision: 1, compacted: -1, versions: map[string][]*mvccpb.Event{}, leases: map[int64]*lease{}}
}

func (k *keyspace) header() *pb.ResponseHeader { return &pb.ResponseHeader{Revision: k.revision} }

// within reports whether a key is in a range as requests give it: one key, all from one on, or an interval.
func within(key string, from, to []byte) bool {
	switch {
	case len(to) == 0:
		return key == string(from)
	case len(to) == 1 && to[0] == 0:
		return key >= string(from)
	}
	return key >= string(from) && key < string(to)
}

// at is a key at a revision, nil if it did not exist then.
func (k *keyspace) at(key string, revision int64) *mvccpb.KeyValue {
	for _, e := range slices.Backward(k.versions[key]) {
		if e.Kv.ModRevision <= revision {
			if e.Type == mvccpb.Event_DELETE {
				return nil
			}
			return e.Kv
		}
	}
	return nil
}

// find finds the keys of a range at a revision, sorted by name.
func (k *keyspace) find(from, to []byte, revision int64) []*mvccpb.KeyValue {
	var found []*mvccpb.KeyValue
	first, _ := slices.BinarySearch(k.names, string(from))
	for _, name := range k.names[first:] {
		if !within(name, from, to) {
			break
		}
		if v := k.at(name, revision); v != nil {
			found = append(found, v)
		}
	}
	return found
}

func (k *keyspace) read(r *pb.RangeRequest) (*pb.RangeResponse, error) {
	revision := cmp.Or(r.Revision, k.revision)
	switch {
	case revision < 0:
		revision = k.revision
	case revision > k.revision:
		return nil, rpctypes.ErrGRPCFutureRev
	case revision < k.compacted:
		return nil, rpctypes.ErrGRPCCompacted
	}
	found := k.find(r.Key, r.RangeEnd, revision)
	answer := &pb.RangeResponse{Header: k.header(), Count: int64(len(found))}
	if r.CountOnly {
		return answer, nil
	}
	found = slices.DeleteFunc(found, func(v *mvccpb.KeyValue) bool {
		return outside(v.CreateRevision, r.MinCreateRevision, r.MaxCreateRevision) ||
			outside(v.ModRevision, r.MinModRevision, r.MaxModRevision)
	})
	arrange(found, r.SortTarget, r.SortOrder)
	if r.Limit > 0 && int64(len(found)) > r.Limit {
		found, answer.More = found[:r.Limit], true
	}
	for _, v := range found {
		if r.KeysOnly {
			keyOnly := &mvccpb.KeyValue{Key: v.Key, CreateRevision: v.CreateRevision, ModRevision: v.ModRevision,
				Version: v.Version}
			if r.SortTarget == pb.RangeRequest_VALUE { // then etcd reads more than its index
				keyOnly.Lease = v.Lease
			}
			v = keyOnly
		}
		answer.Kvs = append(answer.Kvs, v)
	}
	return answer, nil
}

// outside reports whether a number is outside bounds, of which 0 is none.
func outside(n, low, high int64) bool { return low > 0 && n < low || high > 0 && n > high }

// arrange sorts keys, which are sorted by name, as a request asks for. A target without an order means ascending.
func arrange(list []*mvccpb.KeyValue, target pb.RangeRequest_SortTarget, order pb.RangeRequest_SortOrder) {
	if target == pb.RangeRequest_KEY && order != pb.RangeRequest_DESCEND {
		return
	}
	slices.SortStableFunc(list, func(a, b *mvccpb.KeyValue) int {
		if order == pb.RangeRequest_DESCEND {
			a, b = b, a
		}
		switch target {
		case pb.RangeRequest_VERSION:
			return cmp.Compare(a.Version, b.Version)
		case pb.RangeRequest_CREATE:
			return cmp.Compare(a.CreateRevision, b.CreateRevision)
		case pb.RangeRequest_MOD:
			return cmp.Compare(a.ModRevision, b.ModRevision)
		case pb.RangeRequest_VALUE:
			return bytes.Compare(a.Value, b.Value)
		}
		return bytes.Compare(a.Key, b.Key)
	})
}

// write is one change of the keyspace: all that it writes has one revision.
type write struct {
	*keyspace
	wrote bool
}

// next is the revision of what is written.
func (w *write) next() int64 {
	if !w.wrote {
		w.wrote = true
		w.revision++
	}
	return w.revision
}

// record adds a version of a key.
func (w *write) record(e *mvccpb.Event) {
	name := string(e.Kv.Key)
	if i, known := slices.BinarySearch(w.names, name); !known {
		w.names = slices.Insert(w.names, i, name)
	}
	w.versions[name] = append(w.versions[name], e)
	w.events = append(w.events, e)
}

func (w *write) put(r *pb.PutRequest) (*pb.PutResponse, error) {
	if err := w.checkPut(r); err != nil {
		return nil, err
	}
	name := string(r.Key)
	old := w.at(name, w.revision)
	revision := w.next()
	v := &mvccpb.KeyValue{Key: r.Key, Value: r.Value, Lease: r.Lease, CreateRevision: revision, ModRevision: revision,
		Version: 1}
	answer := &pb.PutResponse{}
	if old != nil {
		v.CreateRevision, v.Version = old.CreateRevision, old.Version+1
		if r.IgnoreValue {
			v.Value = old.Value
		}
		if r.IgnoreLease {
			v.Lease = old.Lease
		}
		if r.PrevKv {
			answer.PrevKv = old
		}
		w.detach(old)
	}
	if l := w.leases[v.Lease]; l != nil {
		l.keys[name] = true
	}
	w.record(&mvccpb.Event{Type: mvccpb.Event_PUT, Kv: v, PrevKv: old})
	answer.Header = w.header()
	return answer, nil
}

// checkPut returns the error of a put that the state of the keyspace forbids.
func (w *write) checkPut(r *pb.PutRequest) error {
	switch {
	case r.Lease != 0 && w.leases[r.Lease] == nil:
		return rpctypes.ErrGRPCLeaseNotFound
	case (r.IgnoreValue || r.IgnoreLease) && w.at(string(r.Key), w.revision) == nil:
		return rpctypes.ErrGRPCKeyNotFound
	}
	return nil
}

// detach takes a key from its lease.
func (w *write) detach(v *mvccpb.KeyValue) {
	if l := w.leases[v.Lease]; l != nil {
		delete(l.keys, string(v.Key))
	}
}

func (w *write) deleteRange(r *pb.DeleteRangeRequest) *pb.DeleteRangeResponse {
	answer := &pb.DeleteRangeResponse{}
	for _, v := range w.find(r.Key, r.RangeEnd, w.revision) {
		w.detach(v)
		w.record(&mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: v.Key, ModRevision: w.next()}, PrevKv: v})
		answer.Deleted++
		if r.PrevKv {
			answer.PrevKvs = append(answer.PrevKvs, v)
		}
	}
	answer.Header = w.header()
	return answer
}

// txn executes a transaction, whose compares all look at the state before it.
func (w *write) txn(r *pb.TxnRequest) (*pb.TxnResponse, error) {
	path := w.decide(r)
	if err := w.checkTxn(path); err != nil {
		return nil, err
	}
	answer, err := w.run(path)
	if answer != nil {
		answer.Header = w.header() // those in it have none
	}
	return answer, err
}

// decided is a transaction with its outcome, and those of the transactions in it.
type decided struct {
	succeeded bool
	ops       []*pb.RequestOp
	nested    map[int]*decided // by the index in ops
}

// decide evaluates the compares.
func (w *write) decide(r *pb.TxnRequest) *decided {
	d := &decided{succeeded: true, nested: map[int]*decided{}}
	for _, c := range r.Compare {
		d.succeeded = d.succeeded && w.holds(c)
	}
	d.ops = r.Failure
	if d.succeeded {
		d.ops = r.Success
	}
	for i, op := range d.ops {
		if t := op.GetRequestTxn(); t != nil {
			d.nested[i] = w.decide(t)
		}
	}
	return d
}

// checkTxn returns the error of a transaction that cannot be executed: then none of it is.
func (w *write) checkTxn(d *decided) error {
	for i, op := range d.ops {
		switch {
		case op.GetRequestRange() != nil:
			if r := op.GetRequestRange(); r.Revision > w.revision {
				return rpctypes.ErrGRPCFutureRev
			} else if r.Revision > 0 && r.Revision < w.compacted {
				return rpctypes.ErrGRPCCompacted
			}
		case op.GetRequestPut() != nil:
			if err := w.checkPut(op.GetRequestPut()); err != nil {
				return err
			}
		case d.nested[i] != nil:
			if err := w.checkTxn(d.nested[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *write) run(d *decided) (*pb.TxnResponse, error) {
	answer := &pb.TxnResponse{Header: &pb.ResponseHeader{}, Succeeded: d.succeeded}
	for i, op := range d.ops {
		one := &pb.ResponseOp{}
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			r, err := w.read(o.RequestRange)
			if err != nil {
				return nil, err
			}
			one.Response = &pb.ResponseOp_ResponseRange{ResponseRange: r}
		case *pb.RequestOp_RequestPut:
			r, err := w.put(o.RequestPut)
			if err != nil {
				return nil, err
			}
			one.Response = &pb.ResponseOp_ResponsePut{ResponsePut: r}
		case *pb.RequestOp_RequestDeleteRange:
			one.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: w.deleteRange(o.RequestDeleteRange)}
		case *pb.RequestOp_RequestTxn:
			r, err := w.run(d.nested[i])
			if err != nil {
				return nil, err
			}
			one.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: r}
		}
		answer.Responses = append(answer.Responses, one)
	}
	return answer, nil
}

// holds evaluates a compare: on a range it must hold for each key. A key that does not exist has the numbers 0, and no
// value that could be compared.
func (w *write) holds(c *pb.Compare) bool {
	found := w.find(c.Key, c.RangeEnd, w.revision)
	if len(found) == 0 {
		if c.Target == pb.Compare_VALUE {
			return false
		}
		found = []*mvccpb.KeyValue{{}}
	}
	for _, v := range found {
		d := 0
		switch c.Target {
		case pb.Compare_VERSION:
			d = cmp.Compare(v.Version, c.GetVersion())
		case pb.Compare_CREATE:
			d = cmp.Compare(v.CreateRevision, c.GetCreateRevision())
		case pb.Compare_MOD:
			d = cmp.Compare(v.ModRevision, c.GetModRevision())
		case pb.Compare_VALUE:
			d = bytes.Compare(v.Value, c.GetValue())
		case pb.Compare_LEASE:
			d = cmp.Compare(v.Lease, c.GetLease())
		}
		ok := true
		switch c.Result {
		case pb.Compare_EQUAL:
			ok = d == 0
		case pb.Compare_GREATER:
			ok = d > 0
		case pb.Compare_LESS:
			ok = d < 0
		case pb.Compare_NOT_EQUAL:
			ok = d != 0
		}
		if !ok {
			return false
		}
	}
	return true
}

func (k *keyspace) grant(r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	if k.leases[r.ID] != nil {
		return nil, rpctypes.ErrGRPCLeaseExist
	}
	if r.TTL > maxTTL {
		return nil, rpctypes.ErrGRPCLeaseTTLTooLarge
	}
	l := &lease{id: r.ID, ttl: max(r.TTL, minTTL), keys: map[string]bool{}}
	k.leases[l.id] = l
	return &pb.LeaseGrantResponse{Header: k.header(), ID: l.id, TTL: l.ttl}, nil
}

// revoke ends a lease, and deletes its keys.
func (w *write) revoke(r *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	l := w.leases[r.ID]
	if l == nil {
		return nil, rpctypes.ErrGRPCLeaseNotFound
	}
	for _, name := range l.sorted() {
		w.deleteRange(&pb.DeleteRangeRequest{Key: []byte(name)})
	}
	delete(w.leases, l.id)
	return &pb.LeaseRevokeResponse{Header: w.header()}, nil
}

// sorted are the names of the lease's keys.
func (l *lease) sorted() []string {
	names := make([]string, 0, len(l.keys))
	for name := range l.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// compact forgets the versions that no later revision has.
func (k *keyspace) compact(r *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	switch {
	case r.Revision <= k.compacted:
		return nil, rpctypes.ErrGRPCCompacted
	case r.Revision > k.revision:
		return nil, rpctypes.ErrGRPCFutureRev
	}
	k.compacted = r.Revision
	return &pb.CompactionResponse{Header: k.header()}, nil
}
