// Package natskv puts locks in a bucket of NATS JetStream on trial: the client of NATS, unmodified, and nats-server
// itself, which runs in the bubble. There is no lock in that client: these are written as its documentation says that a
// bucket is used for one, with Create, the revision, and a TTL for each key.
//
//	scenarios.Check(t, natskv.KV(), scenarios.Options{})
package natskv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/kinds/server"
	"locksim/sim"
	simnats "locksim/sim/nats"
)

// Servers is one server, with the bucket in memory.
func Servers() []scenarios.Servers { return serversIn(simnats.InMemory) }

func serversIn(in simnats.Storage) []scenarios.Servers {
	real := &scenarios.RealServer{Command: in.Command, Ready: simnats.Ready, Lease: 2 * time.Second,
		Why:    "the server takes whole seconds, and a request has a third of it",
		Return: 500 * time.Millisecond}
	if in == simnats.InFiles {
		real.Unsynced = "a process that is killed leaves up to two minutes of writes to the operating system, which a " +
			"power failure would lose"
	}
	return []scenarios.Servers{{Count: 1, Kind: scenarios.ServerKind{Facts: server.Facts{Name: "nats", Prefix: "n",
		Lacks: []string{"clock_drift", "clock_freeze", "clock_jump", "edit_key", "error_reply", "evict",
			"exhaust_pool", "failover", "flush", "read_only"}},
		Make:  func(n int) sim.Kind { return simnats.Servers{Count: n, In: in} },
		Power: func() error { return power(in) }, Real: real}}}
}

// power says why a loss of power cannot be played.
func power(in simnats.Storage) error {
	if in == simnats.InMemory || sim.Overlaid() {
		return nil
	}
	return sim.ErrPower
}

// Key is that of a resource: what a bucket allows in one.
func Key(resource string) string {
	key := []byte("lock.")
	for _, c := range []byte(resource) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' {
			key = append(key, c)
		} else {
			key = fmt.Appendf(key, "_%02x", c)
		}
	}
	return string(key)
}

// All are the locks of this package.
func All() []scenarios.Lock {
	return append([]scenarios.Lock{KV(), File(), Sync(), CompareAndSet()}, Specimens()...)
}

// KV is a key of a bucket: Create with a TTL takes it, a message with the last revision and a TTL prolongs it, and
// Delete with the last revision gives it back. The revision of the grant is the fencing token: it is a number of the
// stream, which only grows.
func KV() scenarios.Lock { return underTest("nats-kv", manner{}) }

// File is [KV] in a bucket whose server has it in files, and synchronises them every two minutes, as by default. It
// keeps its promise when that server's process crashes, which loses nothing, and promises nothing when its machine
// loses power, and with it what the server has acknowledged.
func File() scenarios.Lock {
	l := KV()
	l.Name, l.Servers = "nats-kv-file", serversIn(simnats.InFiles)
	l.Promise.Exclusion = append(l.Promise.Exclusion, lock.FaultNodeCrash)
	l.About += " The bucket is in files, which are synchronised every two minutes, the default: a loss of power loses " +
		"acknowledged grants."
	l.ForWhom = "Programs that have NATS already, whose server may lose grants with its power, for work that may be " +
		"done twice, or in a store that compares tokens."
	return l
}

// Sync is [KV] in a bucket whose server has it in files, and synchronises them before each answer, by sync_interval:
// always. It keeps its promise when that server crashes, or its machine loses power, and starts again with these files.
func Sync() scenarios.Lock {
	l := KV()
	l.Name, l.Servers = "nats-kv-sync", serversIn(simnats.InSync)
	l.Promise.Exclusion = append(l.Promise.Exclusion, lock.FaultNodeCrash, lock.FaultNodePower)
	l.About += " The bucket is in files, which are synchronised before each answer, by sync_interval: always: a crash " +
		"of the server, or of its machine, loses no grant."
	l.ForWhom = "Programs that have NATS already, for work on data that must stay right, in a store that compares tokens."
	return l
}

// Specimens are locks that use a bucket wrongly on purpose: each has one mistake, and the rest is right. Never use one.
func Specimens() []scenarios.Lock {
	wrong := func(name, what string, m manner) scenarios.Lock {
		l := underTest(name, m)
		l.About, l.ForWhom, l.Promise = "A lock that is wrong on purpose: "+what, "Tests: it is wrong on purpose.",
			lock.Promise{}
		return l
	}
	return []scenarios.Lock{
		wrong("broken/nats-update", "it prolongs its key with Update, which stores it without a TTL: the key of a client "+
			"that then dies stays for ever.", manner{update: true}),
		wrong("broken/nats-delete-any", "it deletes its key without the revision, also when that is another client's by now.",
			manner{deletesAny: true}),
		wrong("broken/nats-put", "it puts its key after it has found none, in place of Create.", manner{puts: true}),
		wrong("broken/nats-one-revision", "it knows the revision of the last answer, and takes one that it has stored "+
			"itself, by a request whose answer was lost, for another client's.", manner{oneRevision: true}),
		wrong("broken/nats-fraction", "it takes its TTL for exact, of which the server takes whole seconds.",
			manner{fraction: true}),
	}
}

// manner is a mistake.
type manner struct{ update, deletesAny, puts, fraction, oneRevision bool }

func underTest(name string, m manner) scenarios.Lock {
	return scenarios.Lock{
		Name: name, Traits: scenarios.Traits{Servers: Servers(), Tokens: true, FollowsSpec: true,
			Keys:    func(resource string) []string { return []string{Key(resource)} },
			Promise: promised(),
			About: "A key of a bucket of NATS JetStream: Create takes it with a TTL, by the clock of the server. The fencing " +
				"token is the revision of the grant. nats-server itself runs in the world.",
			ForWhom: "Programs that have NATS already, for work that may be done twice, or in a store that compares tokens."},
		New: func(e scenarios.Env) (lock.Locker, error) {
			nc, err := Connect(e)
			if err != nil {
				return nil, err
			}
			js, err := jetstream.New(nc)
			if err != nil {
				return nil, err
			}
			return &locker{env: e, js: js, manner: m}, nil
		},
	}
}

// promised is the promise of every lock with a lease, less what a server that may lose grants in a crash cannot give.
func promised() lock.Promise {
	p := lock.LeasePromise()
	p.FreeWithin = lock.TermTTLAndCluster // the server takes whole seconds, rounded up here
	return p
}

// within bounds a request: a third of the TTL, and two seconds at the most.
func (l *locker) within() time.Duration { return min(l.env.Spec().TTL/3, 2*time.Second) }

// locker is a client's locks.
type locker struct {
	env    scenarios.Env
	js     jetstream.JetStream
	manner manner

	mu      sync.Mutex
	kv      jetstream.KeyValue
	grants  int
	unknown map[string]bool // the grants that may have been stored, and may be there still
}

// bucket is that of the locks. Its first use asks the server for it.
func (l *locker) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	l.mu.Lock()
	kv := l.kv
	l.mu.Unlock()
	if kv != nil {
		return kv, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.within())
	defer cancel()
	kv, err := l.js.KeyValue(ctx, simnats.Bucket)
	if err == nil {
		l.mu.Lock()
		l.kv = kv
		l.mu.Unlock()
	}
	return kv, err
}

// id names a grant.
func (l *locker) id() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grants++
	return simnats.Signed(fmt.Sprintf("%s.%d", l.env.Identity(), l.grants), l.env.Name())
}

// Acquire implements [lock.Locker].
func (l *locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	kv, err := l.bucket(ctx)
	if err != nil {
		return nil, err
	}
	key, id, spec := Key(resource), l.id(), l.env.Spec()
	for {
		asked := l.env.Clock().Now() // the lease is counted from before the request
		revision, err := l.create(ctx, kv, key, id, spec.TTL)
		switch {
		case err == nil:
			g := &grant{locker: l, kv: kv, key: key, id: id, revision: revision}
			return scenarios.NewLease(ctx, l.env, scenarios.Grant{Token: revision, TTL: spec.TTL, Asked: asked, Unlock: g.unlock,
				Extend: g.extend}), nil
		case !errors.Is(err, jetstream.ErrKeyExists):
			l.takeBack(ctx, kv, key, id)
			return nil, scenarios.Unanswered(err)
		case l.takeBackEarlier(ctx, kv, key):
			continue
		}
		if err := l.env.Clock().Sleep(ctx, spec.Backoff.Max); err != nil {
			return nil, err
		}
	}
}

// create takes a key that is free. Its error is ErrKeyExists if it is not.
func (l *locker) create(ctx context.Context, kv jetstream.KeyValue, key, id string, ttl time.Duration) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.within())
	defer cancel()
	if l.manner.puts {
		_, err := kv.Get(ctx, key)
		switch {
		case err == nil:
			return 0, jetstream.ErrKeyExists
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return 0, err
		}
		ack, err := l.js.PublishMsg(ctx, &nats.Msg{Subject: simnats.Subject(key), Data: []byte(id)},
			jetstream.WithMsgTTL(l.whole(ttl)))
		if err != nil {
			return 0, err
		}
		return ack.Sequence, nil
	}
	return kv.Create(ctx, key, []byte(id), jetstream.KeyTTL(l.whole(ttl)))
}

// whole is a TTL as it is sent: the server takes whole seconds, rounded down.
func (l *locker) whole(ttl time.Duration) time.Duration {
	if l.manner.fraction {
		return max(ttl, time.Second)
	}
	return (ttl + time.Second - 1).Truncate(time.Second)
}

// takeBack deletes a key that a request without an answer may have created.
func (l *locker) takeBack(ctx context.Context, kv jetstream.KeyValue, key, id string) {
	l.doubt(id, true)
	l.takeBackEarlier(context.WithoutCancel(ctx), kv, key)
}

// takeBackEarlier deletes a key if it is of such a request. It reports whether it has.
func (l *locker) takeBackEarlier(ctx context.Context, kv jetstream.KeyValue, key string) bool {
	l.mu.Lock()
	none := len(l.unknown) == 0
	l.mu.Unlock()
	if none {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, l.within())
	defer cancel()
	e, err := kv.Get(ctx, key)
	if err != nil {
		return false
	}
	l.mu.Lock()
	own := l.unknown[string(e.Value())]
	l.mu.Unlock()
	if own && kv.Delete(ctx, key, jetstream.LastRevision(e.Revision())) == nil {
		l.doubt(string(e.Value()), false)
		return true
	}
	return false
}

func (l *locker) doubt(id string, unknown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !unknown {
		delete(l.unknown, id)
		return
	}
	if l.unknown == nil {
		l.unknown = map[string]bool{}
	}
	l.unknown[id] = true
}

// grant is one grant of a lock.
type grant struct {
	*locker
	kv      jetstream.KeyValue
	key, id string

	mu       sync.Mutex
	revision uint64 // of the last request that prolonged it
}

func (g *grant) last() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.revision
}

// extend makes the lease last for a TTL from now on.
func (g *grant) extend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.within())
	defer cancel()
	return g.try(ctx, func() error {
		revision, err := g.prolong(ctx)
		if err == nil {
			g.has(revision)
		}
		return err
	})
}

// try makes a request, and once more if another revision is the last one and is of this grant: one that a request has
// stored whose answer was lost.
func (g *grant) try(ctx context.Context, request func() error) error {
	err := notHeld(request())
	if !errors.Is(err, lock.ErrNotHeld) || g.manner.oneRevision {
		return err
	}
	e, unread := g.kv.Get(ctx, g.key)
	switch {
	case errors.Is(unread, jetstream.ErrKeyNotFound), unread == nil && string(e.Value()) != g.id:
		return err
	case unread != nil:
		return scenarios.Unanswered(unread)
	}
	g.has(e.Revision())
	return notHeld(request())
}

func (g *grant) has(revision uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revision = revision
}

func (g *grant) prolong(ctx context.Context) (uint64, error) {
	if g.manner.update {
		return g.kv.Update(ctx, g.key, []byte(g.id), g.last())
	}
	ack, err := g.js.PublishMsg(ctx, &nats.Msg{Subject: simnats.Subject(g.key), Data: []byte(g.id)},
		jetstream.WithExpectLastSequencePerSubject(g.last()), jetstream.WithMsgTTL(g.whole(g.env.Spec().TTL)))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

func (g *grant) unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.within())
	defer cancel()
	return g.try(ctx, func() error {
		if g.manner.deletesAny {
			return g.kv.Delete(ctx, g.key)
		}
		return g.kv.Delete(ctx, g.key, jetstream.LastRevision(g.last()))
	})
}

// notHeld is an error of the client as one of a lock: another revision is the last one, or there was no answer.
func notHeld(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == 10164) {
		return fmt.Errorf("%w: %w", lock.ErrNotHeld, err)
	}
	return scenarios.Unanswered(err)
}
