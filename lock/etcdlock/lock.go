package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock"
	"locksim/lock/internal/frame"
)

// Lock is a lock on etcd. It is safe for concurrent use.
type Lock struct {
	client *clientv3.Client
	opt    Options
}

// New returns a lock on the cluster of a client, or an error that says which option is wrong. It sends nothing.
func New(client *clientv3.Client, o Options) (*Lock, error) {
	if client == nil {
		return nil, errors.New("make a lock on etcd: no client")
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make a lock on etcd: %w", err)
	}
	return &Lock{client: client, opt: o.withDefaults()}, nil
}

// Acquire implements [lock.Locker]. It waits in the queue of the resource until ctx ends or a request fails; then it
// gives its place up. Its error says so if that fails too: the place then stays for up to a TTL. The lease is a
// [*Lease].
func (l *Lock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.acquire(ctx, resource, (*lock.Watchdog).Acquire)
}

// TryAcquire implements [lock.Trier].
func (l *Lock) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.acquire(ctx, resource, (*lock.Watchdog).TryAcquire)
}

func (l *Lock) acquire(ctx context.Context, resource string, ask frame.Ask) (lock.Lease, error) {
	q := &queue{client: l.client, opt: l.opt}
	renewed, err := frame.Renewed(ctx, q, l.opt.watchdog(), resource, ask)
	if err != nil {
		return nil, err
	}
	return &Lease{renewed, q.place}, nil
}

// Lease is a lease of a [Lock]. It is safe for concurrent use.
type Lease struct {
	renewedLease
	place *place
}

type renewedLease = frame.Lease

// Guard is a comparison for transactions on the same cluster: it holds only while the lock is this lease's. So what a
// holder writes to etcd itself needs no fencing token: etcd refuses it once the lock may be another's, however late it
// arrives.
//
//	client.Txn(ctx).If(lease.Guard()).Then(clientv3.OpPut("stock/42", "7")).Commit()
func (l *Lease) Guard() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(l.place.key), "=", l.place.revision)
}

// Queue is the prefix of the keys of a resource: they are its queue.
func (o Options) Queue(resource string) string {
	return o.withDefaults().Prefix + url.PathEscape(resource) + "/"
}

// queue is the lock for one Acquire, without renewals of its lease.
type queue struct {
	client *clientv3.Client
	opt    Options
	place  *place // of the latest grant
}

// place is a place in the queue of a resource.
type place struct {
	prefix, key string
	lease       clientv3.LeaseID
	revision    int64

	mu      sync.Mutex
	renewed time.Time // when the last renewal was sent that was answered
}

// until is the end of the lease as far as the client knows.
func (p *place) until(ttl time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewed.Add(ttl)
}

// sent takes note of a renewal that was sent at a time and answered.
func (p *place) sent(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.After(p.renewed) {
		p.renewed = at
	}
}

// errPlaceLost is the end of a lease while its client waits (F56).
var errPlaceLost = errors.New("the place in the queue is lost: its lease has ended")

// Acquire implements [lock.Locker].
func (q *queue) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return frame.Acquire(ctx, q.opt.Clock, resource, func() (lock.Lease, error) { return q.acquire(ctx, resource, true) },
		func(_ int, err error) error {
			if errors.Is(err, errPlaceLost) && ctx.Err() == nil {
				return nil
			}
			return err
		})
}

// TryAcquire implements [lock.Trier].
func (q *queue) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := q.acquire(ctx, resource, false)
	return frame.Tried(resource, l, err)
}

// acquire takes a place in the queue, and waits until it is the first, or fails if it is not.
func (q *queue) acquire(ctx context.Context, resource string, wait bool) (lock.Lease, error) {
	if resource == "" {
		return nil, errors.New("the resource has no name")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := q.begin(ctx, resource)
	if err != nil {
		return nil, frame.Over(ctx, err)
	}
	first, err := q.enter(ctx, p)
	switch {
	case err != nil || first:
	case wait:
		err = q.wait(ctx, p)
	default:
		err = lock.ErrTaken
	}
	if err == nil {
		err = ctx.Err() // the grant came too late
	}
	if err != nil {
		return nil, q.leave(ctx, p, frame.Over(ctx, err))
	}
	q.place = p
	return lock.NewLease(ctx, q.opt.Clock, grant{q, p}, resource, uint64(p.revision), p.until(q.opt.TTL)), nil
}

// begin is granted a lease by etcd. One whose grant is not answered ends by itself: it has no key.
func (q *queue) begin(ctx context.Context, resource string) (*place, error) {
	sent := q.opt.Clock.Now()
	r, err := q.client.Grant(ctx, int64(q.opt.TTL/time.Second))
	if err != nil {
		return nil, fmt.Errorf("be granted a lease by etcd: %w", err)
	}
	prefix := q.opt.Queue(resource)
	return &place{prefix: prefix, key: fmt.Sprintf("%s%x", prefix, r.ID), lease: r.ID, renewed: sent}, nil
}

// enter puts the key, and reports whether it is the first one.
func (q *queue) enter(ctx context.Context, p *place) (first bool, err error) {
	r, err := q.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)).
		Then(clientv3.OpPut(p.key, "", clientv3.WithLease(p.lease)), clientv3.OpGet(p.prefix, clientv3.WithFirstCreate()...)).
		Commit()
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return false, errPlaceLost
	case err != nil:
		return false, outcome(err)
	case !r.Succeeded:
		return false, fmt.Errorf("the key %s exists already, although its lease is new", p.key)
	}
	p.revision = r.Header.Revision
	return string(r.Responses[1].GetResponseRange().Kvs[0].Key) == p.key, nil
}

// wait waits until the place is the first in the queue. It keeps the lease alive meanwhile.
func (q *queue) wait(ctx context.Context, p *place) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go q.keep(ctx, p, cancel)
	for {
		before, revision, err := q.look(ctx, p)
		if err != nil {
			return cause(ctx, err)
		}
		if before == "" {
			return nil
		}
		if err := q.watch(ctx, before, revision); err != nil {
			return cause(ctx, err)
		}
	}
}

// cause is why a request failed: the loss of the place if that has ended its context.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errPlaceLost) {
		return errPlaceLost
	}
	return err
}

// look finds the place before this one, if the place is still there. It is empty for the first one. revision is that of
// the answer.
func (q *queue) look(ctx context.Context, p *place) (before string, revision int64, err error) {
	previous := append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(p.revision-1))
	r, err := q.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", p.revision)).
		Then(clientv3.OpGet(p.prefix, previous...)).
		Commit()
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("look at the queue: %w", err)
	case !r.Succeeded:
		return "", 0, errPlaceLost
	}
	if found := r.Responses[0].GetResponseRange().Kvs; len(found) > 0 {
		before = string(found[0].Key)
	}
	return before, r.Header.Revision, nil
}

// watch waits until a key is deleted, from a revision on. It may return before, when the watch has ended: the caller
// looks again.
func (q *queue) watch(ctx context.Context, key string, revision int64) error {
	watching, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for r := range q.client.Watch(watching, key, clientv3.WithRev(revision+1), clientv3.WithFilterPut()) {
		for _, e := range r.Events {
			if e.Type == mvccpb.Event_DELETE {
				return nil
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.opt.Clock.Sleep(ctx, q.opt.Retry) // the watch was ended by etcd
}

// keep keeps the lease of a waiter alive until ctx ends. It ends ctx if the lease has ended.
func (q *queue) keep(ctx context.Context, p *place, end context.CancelCauseFunc) {
	next := q.opt.Interval
	for q.opt.Clock.Sleep(ctx, next) == nil {
		next = q.opt.Retry
		asking, cancel := within(ctx, q.opt.Retry)
		held, err := q.renew(asking, p)
		cancel()
		switch {
		case err != nil:
		case !held:
			end(errPlaceLost)
			return
		default:
			next = q.opt.Interval
		}
	}
}

// renew renews a lease, with one request.
//
// KeepAliveOnce of the client is not used: it sends again and again, without a pause, for as long as there is no
// connection.
func (q *queue) renew(ctx context.Context, p *place) (held bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent := q.opt.Clock.Now()
	stream, err := pb.NewLeaseClient(q.client.ActiveConnection()).LeaseKeepAlive(ctx)
	if err != nil {
		return false, clientv3.ContextError(ctx, err)
	}
	if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(p.lease)}); err != nil {
		return false, clientv3.ContextError(ctx, err)
	}
	r, err := stream.Recv()
	if err != nil {
		return false, clientv3.ContextError(ctx, err)
	}
	if r.TTL <= 0 {
		return false, nil
	}
	p.sent(sent)
	return true, nil
}

// leave gives up a place, or what may be one, also after the end of ctx (F29, F54). It returns err, and adds its own
// failure. Once its lease has ended, a request for the place that is still under way fails.
func (q *queue) leave(ctx context.Context, p *place, err error) error {
	if errors.Is(err, errPlaceLost) {
		return err
	}
	if _, failure := q.revoke(ctx, p); failure != nil {
		return fmt.Errorf("%w; giving up the place failed too, so others may have to wait for %v: %w", err, q.opt.TTL,
			failure)
	}
	return err
}

// revoke ends a lease, and deletes its key with it, also after the end of ctx. revoked is false if it had ended. It
// sends once: a client that sends again would take its own success for that of another.
func (q *queue) revoke(ctx context.Context, p *place) (revoked bool, err error) {
	ctx, cancel := detached(ctx, q.opt.ReleaseTimeout)
	defer cancel()
	_, err = pb.NewLeaseClient(q.client.ActiveConnection()).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: int64(p.lease)})
	switch err = clientv3.ContextError(ctx, err); {
	case err == nil:
		return true, nil
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return false, nil
	}
	return false, outcome(err)
}

// grant is a place that is the first: what a lease needs of it.
type grant struct {
	queue *queue
	place *place
}

// Extend implements [lock.Grant]. It looks for the key too: a lease may outlive its key, which an administrator can
// delete.
func (g grant) Extend(ctx context.Context) (until time.Time, held bool, err error) {
	held, err = g.queue.renew(ctx, g.place)
	if held {
		_, _, err = g.queue.look(ctx, g.place)
	}
	switch {
	case errors.Is(err, errPlaceLost):
		return time.Time{}, false, nil
	case err != nil:
		return time.Time{}, false, outcome(err)
	}
	return g.place.until(g.queue.opt.TTL), held, nil
}

// Delete implements [lock.Grant]. It deletes the key, and then ends the lease, which needs no answer.
func (g grant) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := detached(ctx, g.queue.opt.ReleaseTimeout)
	defer cancel()
	p := g.place
	r, err := g.queue.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", p.revision)).
		Then(clientv3.OpDelete(p.key)).
		Commit()
	if err != nil {
		err = outcome(err)
	}
	revoked, failure := g.queue.revoke(ctx, p)
	switch {
	case err == nil:
		return r.Succeeded, nil
	case failure == nil && revoked:
		return true, nil // the key was there until then, or the first request has deleted it
	}
	return false, err
}
