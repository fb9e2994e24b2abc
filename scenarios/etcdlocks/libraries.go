package etcdlocks

import (
	"context"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"locksim/lock"
	"locksim/scenarios/play"
)

// Mutex is the Mutex of etcd's package concurrency, with a session for each client, whose end is the loss of the lock.
// The token is the revision at which the lock was had.
//
// An Unlock under a context that has ended leaves the key, and the session keeps it alive (F29).
func Mutex() play.Lock {
	return library("etcd-mutex", func(s *concurrency.Session, prefix string) held { return &mutex{concurrency.NewMutex(s, prefix)} })
}

// Election is the Election of the same package: the leader has the lock. The token is the revision at which the client
// campaigned.
//
// Campaign does not look whether its own key is still there: a client whose session has ended while it waited is told
// that it is elected (F56), and learns from its session that it is not.
//
// A Resign that fails forgets its key, so that one that is called again succeeds and leaves it (etcd 22123). The next
// Campaign of the session finds the key, and has its revision again: no order of the tokens is promised.
func Election() play.Lock {
	l := library("etcd-election", func(s *concurrency.Session, prefix string) held { return &election{concurrency.NewElection(s, prefix)} })
	l.Promise.TokensUnordered = true
	return l
}

// promised is what a lock promises that is held until its session ends, as its documentation has it.
var promised = lock.Promise{
	Exclusion: []lock.Fault{
		lock.FaultPause, lock.FaultCrash, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultNodeCrash,
	},
	Data: "seal", FreeWithin: lock.TermAnyTime,
}

// held is a lock of the library for one resource.
type held interface {
	lock(ctx context.Context) (token int64, err error)
	unlock(ctx context.Context) error
}

type mutex struct{ *concurrency.Mutex }

func (m *mutex) lock(ctx context.Context) (int64, error) {
	if err := m.Lock(ctx); err != nil {
		return 0, err
	}
	return m.Header().Revision, nil
}

func (m *mutex) unlock(ctx context.Context) error { return m.Unlock(ctx) }

type election struct{ *concurrency.Election }

func (e *election) lock(ctx context.Context) (int64, error) {
	if err := e.Campaign(ctx, ""); err != nil {
		return 0, err
	}
	return e.Rev(), nil
}

func (e *election) unlock(ctx context.Context) error { return e.Resign(ctx) }

// library is a lock of the library, over a session.
func library(name string, make func(s *concurrency.Session, prefix string) held) play.Lock {
	return play.Lock{
		Name: name, Servers: servers(), Tokens: true, FollowsSpec: true, Lease: play.LeaseHeld, Detection: 15 * time.Second,
		Promise: promised,
		New: func(e play.Env) (lock.Locker, error) {
			c, err := client(e)
			if err != nil {
				return nil, err
			}
			return &sessions{client: c, ttl: seconds(e.Spec().TTL), make: make}, nil
		},
	}
}

// sessions makes a lock with the session of its process. A session that has ended is made anew.
type sessions struct {
	client *clientv3.Client
	ttl    time.Duration
	make   func(s *concurrency.Session, prefix string) held

	mu      sync.Mutex
	session *concurrency.Session
}

func (l *sessions) current() (*concurrency.Session, error) {
	l.mu.Lock()
	s := l.session
	l.mu.Unlock()
	if s != nil {
		select {
		case <-s.Done():
		default:
			return s, nil
		}
	}
	s, err := concurrency.NewSession(l.client, concurrency.WithTTL(int(l.ttl/time.Second)))
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = s
	return s, nil
}

func (l *sessions) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	s, err := l.current()
	if err != nil {
		return nil, err
	}
	h := l.make(s, "locks/"+resource)
	token, err := h.lock(ctx)
	if err != nil {
		return nil, err
	}
	held, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.Ctx(), func() { end(lock.ErrLost) })
	return &lease{session: s, held: h, token: uint64(token), ctx: held, end: func() { stop(); end(nil) }}, nil
}

// lease is held until the session ends.
type lease struct {
	session *concurrency.Session
	held    held
	token   uint64
	ctx     context.Context
	end     func()
}

func (l *lease) Token() uint64            { return l.token }
func (l *lease) Until() time.Time         { return time.Time{} }
func (l *lease) Lost() <-chan struct{}    { return l.session.Done() }
func (l *lease) Context() context.Context { return l.ctx }

func (l *lease) Release(ctx context.Context) error {
	l.end()
	err := l.held.unlock(ctx)
	if errors.Is(err, concurrency.ErrLockReleased) {
		return lock.ErrNotHeld
	}
	return err
}
