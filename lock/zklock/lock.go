package zklock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
	"locksim/lock/internal/frame"
)

// Lock is a lock on ZooKeeper. It is safe for concurrent use.
type Lock struct {
	conn *zk.Conn
	opt  Options

	mu    sync.Mutex // guards the entropy, and the rest
	trips []trip     // of the latest session timeout, in the order of their answers
}

// New returns a lock on the ZooKeeper of a connection, or an error that says which option is wrong. It sends nothing.
func New(conn *zk.Conn, o Options) (*Lock, error) {
	if conn == nil {
		return nil, errors.New("make a lock on ZooKeeper: no connection")
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make a lock on ZooKeeper: %w", err)
	}
	return &Lock{conn: conn, opt: o.withDefaults()}, nil
}

// Acquire implements [lock.Locker]. It waits in the queue of the resource until ctx ends or a server refuses; then it
// gives its place up. Without a connection it waits for one. The lease is a [*Lease].
func (l *Lock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.acquire(ctx, resource, (*lock.Watchdog).Acquire)
}

// TryAcquire implements [lock.Trier].
func (l *Lock) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.acquire(ctx, resource, (*lock.Watchdog).TryAcquire)
}

func (l *Lock) acquire(ctx context.Context, resource string, ask frame.Ask) (lock.Lease, error) {
	q := &queue{lock: l}
	renewed, err := frame.Renewed(ctx, q, l.opt.watchdog(), resource, ask)
	if err != nil {
		return nil, err
	}
	lease := &Lease{renewed, q.place}
	go lease.follow()
	return lease, nil
}

// Lease is a lease of a [Lock]. It is safe for concurrent use.
type Lease struct {
	renewedLease
	place *place
}

type renewedLease = frame.Lease

// Guard is an operation for transactions on the same ZooKeeper: it holds only while the lock is this lease's. So what a
// holder writes to ZooKeeper itself needs no fencing token: it is refused once the lock may be another's, however late
// it arrives.
//
//	conn.Multi(lease.Guard(), &zk.SetDataRequest{Path: "/stock/42", Data: seven, Version: -1})
func (l *Lease) Guard() *zk.CheckVersionRequest {
	return &zk.CheckVersionRequest{Path: l.place.path(), Version: -1}
}

// follow looks at once whether the lease is lost when its node is deleted, or the session has ended. It deletes the
// node of a lease that has ended in another way than by a release, as its holder's end or MaxHold: the session may go
// on, and the node with it. It does so when the session could have ended, until when the holder may still be at work.
func (l *Lease) follow() {
	select {
	case <-l.place.gone:
		_ = l.Extend(l.Context())
		return
	case <-l.Context().Done():
	}
	if !errors.Is(context.Cause(l.Context()), lock.ErrLost) {
		return // it was released
	}
	ctx, clock := context.Background(), l.place.opt.Clock
	_ = clock.Sleep(ctx, l.place.end().Sub(clock.Now()))
	l.place.lapse()
	_, _ = l.place.insist(ctx, clearing)
}

// queue is the lock for one Acquire, without renewals of its lease.
type queue struct {
	lock  *Lock
	place *place // of the latest grant
}

// Acquire implements [lock.Locker].
func (q *queue) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return frame.Acquire(ctx, q.lock.opt.Clock, resource,
		func() (lock.Lease, error) { return q.acquire(ctx, resource, true) }, func(_ int, err error) error {
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
	p, err := q.lock.newPlace(q.lock.opt.Queue(resource))
	if err != nil {
		return nil, err
	}
	if err = p.enter(ctx); err == nil {
		err = p.wait(ctx, wait)
	}
	if err == nil {
		err = ctx.Err() // the grant came too late
	}
	if err != nil {
		return nil, p.leave(ctx, frame.Over(ctx, err))
	}
	q.place = p
	return lock.NewLease(ctx, p.opt.Clock, grant{p}, resource, uint64(p.czxid), p.until()), nil
}

// wait waits until the place is the first in the queue. A place that was the first by an old answer may be lost
// meanwhile, so it is renewed before the lock counts as granted.
func (p *place) wait(ctx context.Context, patient bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go p.keep(ctx)
	return p.again(ctx, waiting, func() error {
		for {
			previous, err := p.look(ctx)
			switch {
			case err != nil:
				return err
			case previous == "":
				return p.confirm(ctx)
			case !patient:
				return lock.ErrTaken
			}
			if err := p.watch(ctx, previous); err != nil {
				return err
			}
		}
	})
}

// keep renews the place while it waits, so that the client can be sure of its session when it is the first.
func (p *place) keep(ctx context.Context) {
	for p.opt.Clock.Sleep(ctx, p.opt.Interval) == nil {
		_, _ = p.renew(ctx)
	}
}

// confirm renews the place until the client can be sure of its session for long enough. What it learns from now on is
// of use a report later, so renewals can keep the lease up only if it lasts until then. That takes a moment where the
// connection was not used lately. On a slow network it may never be so; then the time to the next renewal is enough.
func (p *place) confirm(ctx context.Context) error {
	began := p.opt.Clock.Now()
	for {
		held, err := p.renew(ctx)
		switch {
		case err != nil:
			return err
		case !held:
			return errPlaceLost
		}
		now := p.opt.Clock.Now()
		if p.until().Sub(now) <= p.opt.Margin+p.opt.Interval {
			continue
		}
		if p.earliestEnd().Sub(now) > p.opt.Margin+p.opt.Retry+p.opt.report()+p.opt.pause() ||
			now.Sub(began) > 2*p.opt.report() {
			return nil
		}
	}
}

// grant is a place that is the first: what a lease needs of it.
type grant struct{ place *place }

// Extend implements [lock.Grant].
func (g grant) Extend(ctx context.Context) (until time.Time, held bool, err error) {
	held, err = g.place.renew(ctx)
	if err != nil {
		return time.Time{}, false, outcome(err)
	}
	return g.place.until(), held, nil
}

// Delete implements [lock.Grant].
func (g grant) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := detached(ctx, g.place.opt.ReleaseTimeout)
	defer cancel()
	return g.place.remove(ctx, func(ctx context.Context) (bool, error) { return g.place.insist(ctx, releasing) })
}
