package zklocks

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/zookeeper"
)

// Library is the Lock of the Go client, with one connection for each client. It is held until it is unlocked, or until
// the session is known to have ended. The token is the czxid of the node, which the lock keeps to itself: it is the one
// in the queue that the session owns.
//
// Its Lock knows no context: one that is given up goes on, and is unlocked once it has the lock. An Unlock that fails
// leaves the node, and the session keeps it (F62).
func Library() subject.Lock {
	return subject.Lock{
		Name: "zk-lock", Traits: subject.Traits{Servers: needs(), Tokens: true, FollowsSpec: true, TTLIs: "SessionTimeout",
			Lease:     subject.LeaseHeld,
			Detection: 25 * time.Second,
			Keys:      func(resource string) []string { return []string{path(resource) + "/"} },
			Promise: lock.Promise{
				Exclusion: []lock.Fault{
					lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency,
					lock.FaultReset, lock.FaultNodeCrash, lock.FaultNodePower,
				},
				Data: "seal", FreeWithin: lock.TermAnyTime,
			},
			About: "The Lock of github.com/go-zookeeper/zk: an ephemeral sequential node, held until it is unlocked, or " +
				"until the session is known to have ended.",
			ForWhom: "Work that may be done twice now and then, or on data in a store that compares tokens."},
		New: func(e subject.Env) (lock.Locker, error) {
			l := &library{env: e}
			var err error
			l.conn, err = connect(e, zookeeper.Dialer(e), l.observe)
			return l, err
		},
	}
}

// path is the node of a resource, which has no awkward name here.
func path(resource string) string { return "/library/" + url.PathEscape(resource) }

// library makes a lock of the client for each Acquire.
type library struct {
	env  subject.Env
	conn *zk.Conn

	once sync.Once

	mu   sync.Mutex
	held map[*lease]bool
}

// observe tells the holders when the session has ended.
func (l *library) observe(e zk.Event) {
	if e.Type != zk.EventSession || e.State != zk.StateExpired {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.held {
		h.lose()
	}
	l.held = nil
}

// Acquire implements [lock.Locker].
//
// The client draws its ids from the random numbers of the whole program, so that two clients must not begin in one
// instant: each waits for a little time of its own first.
func (l *library) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	var late error
	l.once.Do(func() { late = l.env.Clock().Sleep(ctx, time.Duration(index(l.env))*1237*time.Microsecond) })
	if late != nil {
		return nil, late
	}
	z := zk.NewLock(l.conn, path(resource), zk.WorldACL(zk.PermAll))
	done := make(chan error, 1)
	go func() { done <- z.Lock() }()
	select {
	case err := <-done:
		if err != nil {
			return nil, errors.Join(lock.ErrOutcomeUnknown, err)
		}
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				_ = z.Unlock()
			}
		}()
		return nil, ctx.Err()
	}
	held, end := context.WithCancelCause(context.WithoutCancel(ctx))
	h := &lease{library: l, lock: z, ctx: held, end: end, lost: make(chan struct{})}
	l.mu.Lock()
	if l.held == nil {
		l.held = map[*lease]bool{}
	}
	l.held[h] = true
	l.mu.Unlock()
	var err error
	if h.token, err = l.token(resource); err != nil {
		return nil, errors.Join(lock.ErrOutcomeUnknown, err, h.Release(ctx))
	}
	return h, nil
}

// token is the czxid of the node that the session owns.
func (l *library) token(resource string) (uint64, error) {
	names, _, err := l.conn.Children(path(resource))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		there, stat, err := l.conn.Exists(path(resource) + "/" + name)
		if err != nil {
			return 0, err
		}
		if there && stat.EphemeralOwner == l.conn.SessionID() {
			return uint64(stat.Czxid), nil
		}
	}
	return 0, errors.New("the session owns no node in the queue")
}

// lease is held until it is released, or the session has ended.
type lease struct {
	library *library
	lock    *zk.Lock
	token   uint64
	ctx     context.Context
	end     context.CancelCauseFunc
	lost    chan struct{}
}

func (l *lease) Token() uint64            { return l.token }
func (l *lease) Until() time.Time         { return time.Time{} }
func (l *lease) Lost() <-chan struct{}    { return l.lost }
func (l *lease) Context() context.Context { return l.ctx }

// lose is called once.
func (l *lease) lose() {
	l.end(lock.ErrLost)
	close(l.lost)
}

func (l *lease) Release(ctx context.Context) error {
	l.end(nil)
	l.library.mu.Lock()
	delete(l.library.held, l)
	l.library.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- l.lock.Unlock() }()
	select {
	case err := <-done:
		if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) {
			return lock.ErrNotHeld
		}
		if err != nil {
			return errors.Join(lock.ErrOutcomeUnknown, err)
		}
		return nil
	case <-ctx.Done():
		return errors.Join(lock.ErrOutcomeUnknown, ctx.Err())
	}
}
