package etcdlocks

import (
	"context"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"locksim/lock"
	"locksim/scenarios/subject"
)

// Mutex is the Mutex of etcd's package concurrency, with a session for each client, whose end is the loss of the lock.
// The token is the revision at which the lock was had.
//
// An Unlock under a context that has ended leaves the key, and the session keeps it alive (F29): so its caller gives it
// one that has not. A Lock whose last answer comes after the end of the session is a success where the key is still
// there: such a grant is void.
//
// Its TryLock puts a key as Lock does, and deletes it if another session has the first one. If the transaction or the
// deletion is not answered, it returns with an error, and the key stays for as long as the session, before those of all
// who come later: nobody has the lock then until the session ends, or the client asks again. The caller of a TryLock
// that has failed can do nothing about that by the Mutex, whose Unlock has no key to delete where the transaction was
// not answered.
func Mutex() subject.Lock {
	return TryLibrary("etcd-mutex", NewSession,
		func(s *concurrency.Session, prefix string) HeldOnTry { return carefulOnTry{NewMutex(s, prefix)} })
}

// Election is the Election of the same package: the leader has the lock. The token is the revision at which the client
// campaigned.
//
// Campaign does not look whether its own key is still there: a client whose session has ended while it waited is told
// that it is elected (F56), and learns from its session that it is not. Such a grant is void.
//
// A Resign that fails forgets its key, so that one that is called again succeeds and leaves it (etcd 22123). The next
// Campaign of the session finds the key, and has its revision again: no order of the tokens is promised.
func Election() subject.Lock {
	l := Library("etcd-election", NewSession,
		func(s *concurrency.Session, prefix string) Held { return careful{NewElection(s, prefix)} })
	l.Promise.TokensUnordered = true
	return l
}

// promised is what a lock promises that is held until its session ends, as its documentation has it.
var promised = lock.Promise{
	Exclusion: []lock.Fault{
		lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency,
		lock.FaultReset, lock.FaultNodeCrash, lock.FaultNodePower,
	},
	Data: "seal", FreeWithin: lock.TermAnyTime,
}

// Held is a lock of a library for one resource.
type Held interface {
	// Lock waits until it has the lock, and returns its token, 0 if it has none.
	Lock(ctx context.Context) (token int64, err error)
	// Unlock gives it back. [lock.ErrNotHeld] says that it was not held any more.
	Unlock(ctx context.Context) error
}

// HeldOnTry is a lock that can also ask without waiting.
type HeldOnTry interface {
	Held
	// TryLock asks once, and returns the token of the lock. [lock.ErrTaken] says that another session has it.
	TryLock(ctx context.Context) (token int64, err error)
}

// Session is a session of a library: a lease of etcd that the library keeps alive. Done is closed when it has ended.
type Session interface{ Done() <-chan struct{} }

// NewSession is a session of package concurrency with a TTL in seconds, for [Library].
func NewSession(c *clientv3.Client, ttl int) (*concurrency.Session, error) {
	return concurrency.NewSession(c, concurrency.WithTTL(ttl))
}

// careful has a caller whose contexts do not end within an Unlock.
type careful struct{ Held }

func (c careful) Unlock(ctx context.Context) error { return c.Held.Unlock(context.WithoutCancel(ctx)) }

type carefulOnTry struct{ HeldOnTry }

func (c carefulOnTry) Unlock(ctx context.Context) error {
	return c.HeldOnTry.Unlock(context.WithoutCancel(ctx))
}

// NewMutex is a Mutex for [TryLibrary]. It is unlocked under the context of its caller, as that is.
func NewMutex(s *concurrency.Session, prefix string) HeldOnTry {
	return &mutex{concurrency.NewMutex(s, prefix)}
}

// NewElection is an Election for [Library]. It resigns under the context of its caller, as that is.
func NewElection(s *concurrency.Session, prefix string) Held {
	return &election{concurrency.NewElection(s, prefix)}
}

type mutex struct{ *concurrency.Mutex }

func (m *mutex) Lock(ctx context.Context) (int64, error) {
	if err := m.Mutex.Lock(ctx); err != nil {
		return 0, err
	}
	return m.Header().Revision, nil
}

func (m *mutex) TryLock(ctx context.Context) (int64, error) {
	err := m.Mutex.TryLock(ctx)
	switch {
	case errors.Is(err, concurrency.ErrLocked):
		return 0, lock.ErrTaken
	case err != nil:
		return 0, err
	}
	return m.Header().Revision, nil
}

func (m *mutex) Unlock(ctx context.Context) error {
	err := m.Mutex.Unlock(ctx)
	if errors.Is(err, concurrency.ErrLockReleased) {
		return lock.ErrNotHeld
	}
	return err
}

type election struct{ *concurrency.Election }

func (e *election) Lock(ctx context.Context) (int64, error) {
	if err := e.Campaign(ctx, ""); err != nil {
		return 0, err
	}
	return e.Rev(), nil
}

func (e *election) Unlock(ctx context.Context) error { return e.Resign(ctx) }

// Library is a lock of a library on a cluster of etcd. Each process has one session, which is made anew where it has
// ended: its end is the loss of the lock. open makes one with a TTL in seconds, and make a lock for a prefix of keys.
// With what the documentation of package concurrency says, the lock has tokens.
func Library[S Session](name string, open func(c *clientv3.Client, ttl int) (S, error),
	make func(s S, prefix string) Held) subject.Lock {
	return library(name, func(c *clientv3.Client, ttl int) lock.Locker {
		return &sessions[S, Held]{open: func() (S, error) { return open(c, ttl) }, make: make}
	})
}

// TryLibrary is [Library] for a lock that can also ask without waiting.
func TryLibrary[S Session](name string, open func(c *clientv3.Client, ttl int) (S, error),
	make func(s S, prefix string) HeldOnTry) subject.Lock {
	return library(name, func(c *clientv3.Client, ttl int) lock.Locker {
		return trying[S]{&sessions[S, HeldOnTry]{open: func() (S, error) { return open(c, ttl) }, make: make}}
	})
}

func library(name string, locker func(c *clientv3.Client, ttl int) lock.Locker) subject.Lock {
	return subject.Lock{
		Name: name, Traits: subject.Traits{Servers: servers(), Tokens: true, FollowsSpec: true, TTLIs: "TTL",
			Lease:     subject.LeaseHeld,
			Detection: 15 * time.Second,
			Promise:   promised},
		New: func(e subject.Env) (lock.Locker, error) {
			c, err := client(e)
			if err != nil {
				return nil, err
			}
			return locker(c, int(seconds(e.Spec().TTL)/time.Second)), nil
		},
	}
}

// sessions makes a lock with the session of its process. A session that has ended is made anew.
type sessions[S Session, H Held] struct {
	open func() (S, error)
	make func(s S, prefix string) H

	mu      sync.Mutex
	session S
	opened  bool
}

func (l *sessions[S, H]) current() (S, error) {
	l.mu.Lock()
	s, opened := l.session, l.opened
	l.mu.Unlock()
	if opened {
		select {
		case <-s.Done():
		default:
			return s, nil
		}
	}
	s, err := l.open()
	if err != nil {
		return s, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.opened = s, true
	return s, nil
}

func (l *sessions[S, H]) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.ask(ctx, resource, func(h H) (int64, error) { return h.Lock(ctx) })
}

// trying is sessions of a lock that can also ask without waiting.
type trying[S Session] struct{ *sessions[S, HeldOnTry] }

// TryAcquire implements [lock.Trier].
func (l trying[S]) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.ask(ctx, resource, func(h HeldOnTry) (int64, error) { return h.TryLock(ctx) })
}

// ask asks for a lock with the session of the process.
func (l *sessions[S, H]) ask(ctx context.Context, resource string, ask func(h H) (token int64,
	err error)) (lock.Lease, error) {
	s, err := l.current()
	if err != nil {
		return nil, err
	}
	h := l.make(s, "locks/"+resource)
	token, err := ask(h)
	if err != nil {
		return nil, err
	}
	held, end := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-s.Done():
			end(lock.ErrLost)
		case <-held.Done():
		}
	}()
	return &lease{held: h, token: uint64(token), ctx: held, lost: s.Done(), end: func() { end(nil) }}, nil
}

// lease is held until the session ends.
type lease struct {
	held  Held
	token uint64
	ctx   context.Context
	lost  <-chan struct{}
	end   func()
}

func (l *lease) Token() uint64            { return l.token }
func (l *lease) Until() time.Time         { return time.Time{} }
func (l *lease) Lost() <-chan struct{}    { return l.lost }
func (l *lease) Context() context.Context { return l.ctx }

func (l *lease) Release(ctx context.Context) error {
	l.end()
	return l.held.Unlock(ctx)
}
