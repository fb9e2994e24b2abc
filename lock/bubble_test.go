package lock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

const resource = "order:42"

// kind is a kind of lock, for tests that apply to all kinds.
type kind struct {
	name string
	make func(lock.Redis, lock.Options) (locker, error)
	ask  string // the command of a first Acquire
}

type locker interface {
	lock.Locker
	Key(resource string) string
}

var kinds = []kind{
	{"single", func(r lock.Redis, o lock.Options) (locker, error) { return lock.NewSingle(r, o) }, "set"},
	{"fenced", func(r lock.Redis, o lock.Options) (locker, error) { return lock.NewFenced(r, o) }, "eval"},
	{"reentrant", func(r lock.Redis, o lock.Options) (locker, error) { return lock.NewReentrant(r, o) }, "eval"},
	{"reentrant-fenced", func(r lock.Redis, o lock.Options) (locker, error) { return lock.NewReentrantFenced(r, o) },
		"eval"},
	{"fair", func(r lock.Redis, o lock.Options) (locker, error) { return lock.NewFair(r, o) }, "eval"},
	{"fair-fenced", func(r lock.Redis, o lock.Options) (locker, error) { return lock.NewFairFenced(r, o) }, "eval"},
}

// world is a Redis node in a bubble of virtual time, with a lock kind under test.
type world struct {
	*testing.T
	kind    kind
	node    *miniredis.Miniredis
	waiting lock.Waiting // default of the locks
}

// everyKind runs the test in a separate bubble for each kind of lock.
func everyKind(t *testing.T, test func(w *world)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { bubble(t, k, test) })
	}
}

// everyWaiting runs the test for each kind of lock and each way of waiting.
func everyWaiting(t *testing.T, test func(w *world)) {
	for _, waiting := range []lock.Waiting{lock.WaitPoll, lock.WaitNotify} {
		t.Run(waiting.String(), func(t *testing.T) {
			everyKind(t, func(w *world) {
				w.waiting = waiting
				test(w)
			})
		})
	}
}

func bubble(t *testing.T, k kind, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		node := miniredis.NewMiniRedis()
		node.ClockTTL(true)
		t.Cleanup(func() {
			node.Close()
			time.Sleep(2 * time.Second) // go-redis probes for a second after failed dials
		})
		test(&world{T: t, kind: k, node: node})
	})
}

// client returns a client with the options of the package documentation, and its wire.
func (w *world) client() (*redis.Client, *wire) {
	line := &wire{node: w.node}
	c := redis.NewClient(quiet(line))
	w.Cleanup(func() { _ = c.Close() })
	return c, line
}

// lock returns a lock of the kind under test on a new client.
func (w *world) lock(o lock.Options) (locker, *wire) {
	w.Helper()
	c, line := w.client()
	return w.on(c, o), line
}

// on returns a lock of the kind under test on a client.
func (w *world) on(c lock.Redis, o lock.Options) locker {
	w.Helper()
	if o.Waiting == lock.WaitPoll {
		o.Waiting = w.waiting
	}
	l, err := w.kind.make(c, o)
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// acquire takes the lock within a minute.
func (w *world) acquire(l lock.Locker) lock.Lease {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	lease, err := l.Acquire(ctx, resource)
	if err != nil {
		w.Fatal(err)
	}
	return lease
}

func (w *world) release(l lock.Lease) {
	w.Helper()
	if err := l.Release(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// owner returns the id of the holder on the node, "" if there is none.
func (w *world) owner(l locker) string {
	w.Helper()
	key := l.Key(resource)
	if w.node.Type(key) != "hash" {
		id, _ := w.node.Get(key)
		return id
	}
	fields, err := w.node.HKeys(key)
	if err != nil {
		w.Fatal(err)
	}
	for _, field := range fields {
		if id, ok := strings.CutPrefix(field, "owner:"); ok {
			return id
		}
	}
	return ""
}

// wantFree fails unless the lock is free on the node.
func (w *world) wantFree(l locker) {
	w.Helper()
	if w.node.Exists(l.Key(resource)) {
		w.Errorf("key %s is still there, for %v", l.Key(resource), w.node.TTL(l.Key(resource)))
	}
}

// want fails unless err wraps all of targets.
func (w *world) want(err error, targets ...error) {
	w.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			w.Errorf("error %v does not wrap %v", err, target)
		}
	}
}

// quiet is a client's configuration for a lock in a bubble.
func quiet(line *wire) *redis.Options {
	return &redis.Options{
		Addr:                     "127.0.0.1:6379",
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintOff,
		MaxRetries:               -1,
		DialerRetries:            1,
		PipelinePoolSize:         -1,
		ContextTimeoutEnabled:    true,
		Dialer:                   line.dial,
	}
}
