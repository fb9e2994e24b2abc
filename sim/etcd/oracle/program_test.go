package oracle_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// subject is a cluster that runs a program, empty at its begin.
type subject struct {
	client *clientv3.Client
	sleep  func(time.Duration)
	// base is the revision at the begin, less 1, and prefix begins all keys: a cluster that is used again is not new.
	base   int64
	prefix string
	// ids is added to the ids of leases.
	ids int64
}

// step is a request of a program: it returns the answer as text.
type step struct {
	text string
	do   func(ctx context.Context, r *runner) string
}

// runner runs a program on a subject.
type runner struct {
	subject

	kv      pb.KVClient
	lease   pb.LeaseClient
	watch   pb.WatchClient
	watches []*watched
}

// watched is a watch and what it has told.
type watched struct {
	end  context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	events []string
}

// pause is a time between the ends of leases: see leases.
const pause = 3100 * time.Millisecond

// settle is the time in which a watch catches up. A program has so few watches that it moves no pause beyond the end of
// a lease.
const (
	settle     = 200 * time.Millisecond
	maxWatches = 2
)

// leases have their TTLs in seconds. No two of them end within a second of each other, whichever pauses they were
// granted after, and none ends within half a second of a pause's end: etcd looks for leases that have ended twice a
// second.
var leases = []struct{ id, ttl int64 }{{101, 4}, {102, 5}}

// run is the answers of a program, one for each step, and then what each watch has told.
func run(ctx context.Context, s subject, program []step) []string {
	conn := s.client.ActiveConnection()
	r := &runner{subject: s, kv: pb.NewKVClient(conn), lease: pb.NewLeaseClient(conn), watch: pb.NewWatchClient(conn)}
	var answers []string
	for _, step := range program {
		r.sleep(time.Millisecond) // a time to live is never a whole number of seconds
		answers = append(answers, step.text+" -> "+step.do(ctx, r))
	}
	for _, l := range leases { // none ends in the next program
		_, _ = r.lease.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: l.id + r.ids})
	}
	r.sleep(settle)
	for i, w := range r.watches {
		w.end()
		<-w.done
		answers = append(answers, fmt.Sprintf("watch %d: %s", i, strings.Join(w.events, "; ")))
	}
	return answers
}

func (r *runner) key(k string) []byte {
	if k == "" {
		return nil
	}
	return []byte(r.prefix + k)
}

// keyEnd is the end of a range: a key, "" for none, or "*" for all keys from the first on that have the prefix.
func (r *runner) keyEnd(k string) []byte {
	if k == "*" {
		return []byte(clientv3.GetPrefixRangeEnd(r.prefix))
	}
	return r.key(k)
}

// rev is a revision of the cluster, where the program counts from 1.
func (r *runner) rev(n int64) int64 {
	if n <= 0 {
		return n
	}
	return r.base + n
}

// answer is an answer as text, with revisions and keys as the program has them.
func answer[M proto.Message](r *runner) func(m M, err error) string {
	return func(m M, err error) string {
		if err != nil {
			s := status.Convert(err)
			return fmt.Sprintf("%v: %s", s.Code(), s.Message())
		}
		return r.text(m)
	}
}

func (r *runner) text(m proto.Message) string {
	m = proto.Clone(m)
	r.normalise(m)
	return strings.Join(strings.Fields(prototext.Format(m)), " ")
}

func (r *runner) normalise(m any) {
	switch m := m.(type) {
	case *pb.ResponseHeader:
		if m != nil {
			m.ClusterId, m.MemberId, m.RaftTerm = 0, 0, 0
			r.count(&m.Revision)
		}
	case *pb.RangeResponse:
		r.normalise(m.Header)
		for _, kv := range m.Kvs {
			r.normalise(kv)
		}
	case *mvccpb.KeyValue:
		if m != nil {
			m.Key = []byte(strings.TrimPrefix(string(m.Key), r.prefix))
			r.count(&m.CreateRevision)
			r.count(&m.ModRevision)
			r.unlease(&m.Lease)
		}
	case *pb.PutResponse:
		r.normalise(m.Header)
		r.normalise(m.PrevKv)
	case *pb.DeleteRangeResponse:
		r.normalise(m.Header)
		for _, kv := range m.PrevKvs {
			r.normalise(kv)
		}
	case *pb.TxnResponse:
		r.normalise(m.Header)
		for _, o := range m.Responses {
			switch o := o.Response.(type) {
			case *pb.ResponseOp_ResponseRange:
				r.normalise(o.ResponseRange)
			case *pb.ResponseOp_ResponsePut:
				r.normalise(o.ResponsePut)
			case *pb.ResponseOp_ResponseDeleteRange:
				r.normalise(o.ResponseDeleteRange)
			case *pb.ResponseOp_ResponseTxn:
				r.normalise(o.ResponseTxn)
			}
		}
	case *pb.CompactionResponse:
		r.normalise(m.Header)
	case *pb.LeaseGrantResponse:
		r.normalise(m.Header)
		r.unlease(&m.ID)
	case *pb.LeaseRevokeResponse:
		r.normalise(m.Header)
	case *pb.LeaseKeepAliveResponse:
		r.normalise(m.Header)
		r.unlease(&m.ID)
	case *pb.LeaseTimeToLiveResponse:
		r.normalise(m.Header)
		r.unlease(&m.ID)
		for i, k := range m.Keys {
			m.Keys[i] = []byte(strings.TrimPrefix(string(k), r.prefix))
		}
		slices.SortFunc(m.Keys, slices.Compare)
	default:
		panic(fmt.Sprintf("no way to compare a %T", m))
	}
}

func (r *runner) count(revision *int64) {
	if *revision > r.base {
		*revision -= r.base
	}
}

func (r *runner) unlease(id *int64) {
	if *id > r.ids {
		*id -= r.ids
	}
}

// begin begins a watch, and waits until it is there.
func (r *runner) begin(ctx context.Context, c *pb.WatchCreateRequest) string {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := r.watch.Watch(ctx)
	if err == nil {
		err = stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: c}})
	}
	if err != nil {
		cancel()
		return err.Error()
	}
	first, err := stream.Recv()
	if err != nil {
		cancel()
		return err.Error()
	}
	w := &watched{end: cancel, done: make(chan struct{})}
	r.watches = append(r.watches, w)
	w.take(r, first)
	go func() {
		defer close(w.done)
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			w.take(r, m)
		}
	}()
	r.sleep(settle)
	return fmt.Sprintf("created %v", first.Created)
}

// take adds what a watch tells. Several events may come in one answer or in several.
func (w *watched) take(r *runner, m *pb.WatchResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.Canceled {
		compacted := m.CompactRevision
		r.count(&compacted)
		w.events = append(w.events, fmt.Sprintf("cancelled, compacted %d: %s", compacted, m.CancelReason))
	}
	for _, e := range m.Events {
		e = proto.Clone(e).(*mvccpb.Event)
		r.normalise(e.Kv)
		r.normalise(e.PrevKv)
		w.events = append(w.events, strings.Join(strings.Fields(prototext.Format(e)), " "))
	}
}

// release is a version of etcd.
type release string

const (
	etcd37 release = "3.7"
	// etcd34 is different, and none of that is drawn for it: it takes a watch from revision -1; it has the lease of a key
	// in an answer with the keys only; and of several things wrong with a transaction, or with a put, it reports another
	// one.
	etcd34 release = "3.4"
)

// program is a random program of so many steps, with what has the same answers in a release.
func program(of release, seed uint64, steps int) []step {
	d := &drawer{release: of, Rand: rand.New(rand.NewPCG(seed, 1))}
	var out []step
	for range steps {
		out = append(out, d.step())
	}
	return out
}

type drawer struct {
	*rand.Rand

	release release
	watches int
}

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

func (d *drawer) once(in int) bool { return d.IntN(in) == 0 }

func (d *drawer) keyName() string {
	if d.once(40) {
		return "" // an error
	}
	return pick(d, "a", "b", "ba", "c", "d")
}

// span is a key, or a range of keys.
func (d *drawer) span() (key, end string) {
	if d.once(2) {
		return d.keyName(), ""
	}
	return pick(d, "a", "b", "c"), pick(d, "c", "d", "*", "*", "a")
}

// revision is 0, one that the program may have reached, or a later one.
func (d *drawer) revision() int64 {
	if d.once(2) {
		return 0
	}
	return 1 + d.Int64N(30)
}

func (d *drawer) leaseID() int64 { return pick(d, leases[0].id, leases[1].id, 0, 0, 0, 999) }

func (d *drawer) step() step {
	switch d.IntN(20) {
	case 0, 1, 2, 3:
		return requestOf("put", d.put, pb.KVClient.Put)
	case 4, 5, 6:
		return requestOf("get", d.get, pb.KVClient.Range)
	case 7, 8:
		return requestOf("delete", d.remove, pb.KVClient.DeleteRange)
	case 9, 10, 11, 12:
		return requestOf("txn", func() build[*pb.TxnRequest] { return d.txn(1) }, pb.KVClient.Txn)
	case 13:
		rev, physical := 1+d.Int64N(30), d.once(2)
		return step{fmt.Sprintf("compact %d", rev), func(ctx context.Context, r *runner) string {
			return answer[*pb.CompactionResponse](r)(r.kv.Compact(ctx, &pb.CompactionRequest{Revision: r.rev(rev),
				Physical: physical}))
		}}
	case 14, 15:
		l := pick(d, leases...)
		return step{fmt.Sprintf("grant %d for %d s", l.id, l.ttl), func(ctx context.Context, r *runner) string {
			return answer[*pb.LeaseGrantResponse](r)(r.lease.LeaseGrant(ctx,
				&pb.LeaseGrantRequest{ID: l.id + r.ids, TTL: l.ttl}))
		}}
	case 16:
		id := pick(d, 101, 102, 999)
		if d.once(3) {
			return step{fmt.Sprintf("revoke %d", id), func(ctx context.Context, r *runner) string {
				return answer[*pb.LeaseRevokeResponse](r)(r.lease.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: int64(id) + r.ids}))
			}}
		}
		return step{fmt.Sprintf("keep %d alive", id),
			func(ctx context.Context, r *runner) string { return r.keepAlive(ctx, int64(id)) }}
	case 17:
		id, keys := pick(d, 101, 102, 999), d.once(2)
		return step{fmt.Sprintf("time to live of %d", id), func(ctx context.Context, r *runner) string {
			return answer[*pb.LeaseTimeToLiveResponse](r)(r.lease.LeaseTimeToLive(ctx,
				&pb.LeaseTimeToLiveRequest{ID: int64(id) + r.ids, Keys: keys}))
		}}
	case 18:
		if d.watches++; d.watches > maxWatches {
			return d.step()
		}
		key, end := d.span()
		rev, prev := d.revision(), d.once(2)
		if d.release != etcd34 && d.once(6) {
			rev = -1 - d.Int64N(3)
		}
		var filters []pb.WatchCreateRequest_FilterType
		if d.once(3) {
			filters = append(filters, pick(d, pb.WatchCreateRequest_NOPUT, pb.WatchCreateRequest_NODELETE))
		}
		if key == "" {
			key = "a"
		}
		return step{fmt.Sprintf("watch %s..%s from %d", key, end, rev), func(ctx context.Context, r *runner) string {
			return r.begin(ctx, &pb.WatchCreateRequest{Key: r.key(key), RangeEnd: r.keyEnd(end), StartRevision: r.rev(rev),
				PrevKv: prev, Filters: filters})
		}}
	}
	return step{"pause", func(_ context.Context, r *runner) string {
		r.sleep(pause)
		return "over"
	}}
}

func (r *runner) keepAlive(ctx context.Context, id int64) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.lease.LeaseKeepAlive(ctx)
	if err == nil {
		err = stream.Send(&pb.LeaseKeepAliveRequest{ID: id + r.ids})
	}
	if err != nil {
		return err.Error()
	}
	return answer[*pb.LeaseKeepAliveResponse](r)(stream.Recv())
}
