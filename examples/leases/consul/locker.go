package consul

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim/consul"
)

// The times of the client's transport are those of api.DefaultConfig. Its number of idle connections follows the
// number of processors there.
const (
	dialTimeout = 30 * time.Second
	idleTimeout = 90 * time.Second
	idleConns   = 3
)

// apart keeps two requests of a client from beginning in one instant, where they would race for an idle connection:
// the first one of a monitor and the read of the token, the end of a session and whatever its user does next.
const apart = time.Millisecond

// ttl and delay are the defaults of the client and of Consul: api.DefaultLockSessionTTL, and the lock-delay.
const (
	ttl   = 15 * time.Second
	delay = 15 * time.Second
)

// What users of the locks choose: Consul takes TTLs of 10 s to 24 h, and lock-delays of up to a minute.
var (
	sessionTTL = scenarios.Setting{
		Name: "session_ttl", Elsewhere: "SessionTTL", Default: scenarios.Always(ttl), Least: 10 * time.Second,
		Doc: "how long a session lasts without a renewal, and up to twice that",
	}
	lockDelay = scenarios.Setting{
		Name: "lock_delay", Elsewhere: "LockDelay", Default: scenarios.Always(delay), Least: time.Millisecond,
		Most: time.Minute, Doc: "how long others wait after a session has ended that had the lock",
	}
)

// lockKey and semaphorePrefix are the keys of a resource.
func lockKey(resource string) string         { return "locks/" + url.PathEscape(resource) }
func semaphorePrefix(resource string) string { return "semaphores/" + url.PathEscape(resource) }

func connect(e scenarios.Env) (*api.Client, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return e.Dial(ctx, network, e.Address(consul.Servers))
		},
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleTimeout,
	}
	e.OnEnd(transport.CloseIdleConnections)
	return api.NewClient(&api.Config{
		Address: fmt.Sprint(consul.Servers, ":", consul.Port), Scheme: "http",
		HttpClient: &http.Client{Transport: transport},
	})
}

// manner is what users of the locks do in different ways.
type manner struct {
	semaphore bool
	delay     time.Duration // the lock-delay; 0 for the default
	behavior  string        // of the session
	deaf      bool          // it does not look for the loss
	stale     bool          // the token is what any server knows of the key
	lockIndex bool          // the token is the LockIndex
	leaves    bool          // it does not unlock what it was told to have lost
}

// locker has a client, and makes a lock of it for each Acquire.
type locker struct {
	env    scenarios.Env
	client *api.Client
	manner manner

	mu      sync.Mutex
	entropy io.Reader
}

func open(e scenarios.Env, m manner) (*locker, error) {
	c, err := connect(e)
	if err != nil {
		return nil, err
	}
	return &locker{env: e, client: c, manner: m, entropy: e.Entropy("owner")}, nil
}

// keepsOut is how long others are kept out at most when the holder renews nothing any more: Consul ends a session after
// up to twice its TTL.
func (l *locker) keepsOut() time.Duration {
	return 2*sessionTTL.In(l.env.Spec()) + lockDelay.In(l.env.Spec())
}

// owner is the value by which an Acquire knows its key.
func (l *locker) owner() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var id [8]byte
	if _, err := io.ReadFull(l.entropy, id[:]); err != nil {
		return "", fmt.Errorf("make an owner id: %w", err)
	}
	return l.env.Identity() + "-" + hex.EncodeToString(id[:]), nil
}

// held is a lock of the client.
type held interface {
	// acquire returns nil if stop was closed before.
	acquire(stop <-chan struct{}) (lost <-chan struct{}, err error)
	// token is that of the grant. ok is false if another client has the lock, or none.
	token(ctx context.Context) (n uint64, ok bool, err error)
	release() error
}

func (l *locker) make(resource, owner string) (held, error) {
	kv := l.client.KV()
	if l.manner.semaphore {
		s, err := l.client.SemaphoreOpts(&api.SemaphoreOptions{
			Prefix: semaphorePrefix(resource), Limit: 1, Value: []byte(owner), SessionTTL: sessionTTL.In(l.env.Spec()).String(),
		})
		return semaphore{s, kv, semaphorePrefix(resource), owner}, err
	}
	o := &api.LockOptions{
		Key: lockKey(resource), Value: []byte(owner), SessionTTL: sessionTTL.In(l.env.Spec()).String(),
		LockDelay: l.manner.delay,
	}
	if d := lockDelay.In(l.env.Spec()); d != delay {
		o.LockDelay = d
	}
	if l.manner.behavior != "" {
		o.SessionOpts = &api.SessionEntry{TTL: o.SessionTTL, Behavior: l.manner.behavior}
	}
	k, err := l.client.LockOpts(o)
	return mutex{k, kv, o.Key, owner, l.manner}, err
}

// Acquire implements [lock.Locker]. One that is given up goes on for up to 15 s, and is given back once it has the
// lock.
func (l *locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	owner, err := l.owner()
	if err != nil {
		return nil, err
	}
	h, err := l.make(resource, owner)
	if err != nil {
		return nil, err
	}
	var lost <-chan struct{}
	done := make(chan error, 1)
	go func() {
		var err error
		switch lost, err = h.acquire(ctx.Done()); {
		case err == nil && lost == nil:
			err = ctx.Err()
		case err == nil:
			_ = l.env.Clock().Sleep(l.env.Context(), apart)
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				_ = h.release()
			}
		}()
		return nil, fmt.Errorf("acquire %s: %w: %w", resource, lock.ErrOutcomeUnknown, ctx.Err())
	}
	if err != nil {
		return nil, scenarios.Unanswered(fmt.Errorf("acquire %s: %w", resource, err))
	}
	token, ok, err := h.token(ctx)
	if err == nil && (!ok || isClosed(lost)) {
		err = errors.New("the lock was lost while its token was read")
	}
	if err != nil {
		go func() { _ = h.release() }()
		return nil, scenarios.Unanswered(fmt.Errorf("acquire %s: %w", resource, err))
	}
	g := scenarios.Grant{
		Until: func() time.Time { return l.env.Clock().Now().Add(l.keepsOut()) }, // until it is told otherwise
		Token: token,
	}
	g.Lost, g.Unlock = l.giveBack(h, lost)
	l.env.OnEnd(func() { // else the client would renew its session for ever
		_ = g.Unlock(context.Background())
		if l.manner.leaves {
			_ = h.release()
		}
	})
	if l.manner.deaf {
		g.Lost = nil
	}
	return scenarios.NewLease(ctx, l.env, g), nil
}

// giveBack gives a lock back. The client keeps a mutex meanwhile, so that there is one Unlock for each grant: a
// Release that is called again waits for it. told is closed with lost, unless the lock is given back before.
func (l *locker) giveBack(h held, lost <-chan struct{}) (told <-chan struct{}, release func(context.Context) error) {
	var once sync.Once
	ended, begun, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		select {
		case <-lost:
			if l.env.Context().Err() == nil { // else the process has ended, and is told nothing
				close(ended)
			}
		case <-begun:
		}
	}()
	var over bool
	var failed error
	return ended, func(ctx context.Context) error {
		once.Do(func() {
			over = isClosed(ended)
			close(begun)
			if over && l.manner.leaves {
				close(done)
				return
			}
			go func() {
				failed = h.release()
				_ = l.env.Clock().Sleep(l.env.Context(), apart)
				close(done)
			}()
		})
		if ctx.Err() != nil { // Unlock has no context: who calls it in the end, as one that has to stop does, waits for it
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), ttl)
			defer cancel()
		}
		select {
		case <-done:
		case <-ctx.Done():
		}
		switch {
		case !isClosed(done): // not a case of select, which takes either where both have ended
			return scenarios.Unanswered(ctx.Err())
		case over:
			return lock.ErrNotHeld
		}
		return scenarios.Unanswered(failed)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// consistent are the options of a read of the newest state.
func consistent(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx)
}

// mutex is an api.Lock. Its token is the ModifyIndex of the key, as it is when the session has it: each grant writes
// the key, and nothing makes the index lower.
type mutex struct {
	lock       *api.Lock
	kv         *api.KV
	key, owner string
	manner     manner
}

func (m mutex) acquire(stop <-chan struct{}) (<-chan struct{}, error) { return m.lock.Lock(stop) }
func (m mutex) release() error                                        { return m.lock.Unlock() }

func (m mutex) token(ctx context.Context) (n uint64, ok bool, err error) {
	if m.manner.stale {
		return m.staleToken(ctx)
	}
	p, _, err := m.kv.Get(m.key, consistent(ctx))
	if err != nil || p == nil || p.Session == "" || string(p.Value) != m.owner {
		return 0, false, err
	}
	return m.number(p), true, nil
}

// number is the token that a key has.
func (m mutex) number(p *api.KVPair) uint64 {
	if m.manner.lockIndex {
		return p.LockIndex
	}
	return p.ModifyIndex
}

// staleToken is the token as any server knows it, which may be that of the grant before.
func (m mutex) staleToken(ctx context.Context) (n uint64, ok bool, err error) {
	for {
		p, _, err := m.kv.Get(m.key, (&api.QueryOptions{AllowStale: true}).WithContext(ctx))
		if err != nil {
			return 0, false, err
		}
		if p != nil {
			return m.number(p), true, nil
		}
	}
}

// semaphore is an api.Semaphore. Its token is the ModifyIndex of the key with the holders: while a client has the
// only slot, no client changes it.
type semaphore struct {
	semaphore     *api.Semaphore
	kv            *api.KV
	prefix, owner string
}

func (s semaphore) acquire(stop <-chan struct{}) (<-chan struct{}, error) {
	return s.semaphore.Acquire(stop)
}
func (s semaphore) release() error { return s.semaphore.Release() }

func (s semaphore) token(ctx context.Context) (n uint64, ok bool, err error) {
	pairs, _, err := s.kv.List(s.prefix, consistent(ctx))
	if err != nil {
		return 0, false, err
	}
	session := ""
	var slots struct{ Holders map[string]bool }
	for _, p := range pairs {
		switch {
		case p.Key == s.prefix+consul.SemaphoreKey:
			if err := json.Unmarshal(p.Value, &slots); err != nil {
				return 0, false, fmt.Errorf("read the holders of %s: %w", s.prefix, err)
			}
			n = p.ModifyIndex
		case string(p.Value) == s.owner:
			session = p.Session
		}
	}
	return n, session != "" && slots.Holders[session], nil
}
