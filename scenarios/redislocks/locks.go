// Package redislocks has the locks that come with locksim for Redis, and the specimens: locks that are wrong on
// purpose. It finds locks by their names.
package redislocks

import (
	"cmp"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
)

// recipe makes one of the locks of package lock.
type recipe struct {
	make  func(m maker) (lock.Locker, error)
	queue func(resource string) string // see [subject.Traits]
}

// makers has an entry for each of [kinds.Names].
var makers = map[string]recipe{
	"single":          {make: maker.single},
	"fenced":          {make: maker.fenced},
	"watchdog":        {make: withWatchdog(maker.single)},
	"watchdog-fenced": {make: withWatchdog(maker.fenced)},
	"reentrant":       {make: func(m maker) (lock.Locker, error) { return lock.NewReentrant(m.node(0), m.options()) }},
	"reentrant-fenced": {make: func(m maker) (lock.Locker, error) {
		return lock.NewReentrantFenced(m.node(0),
			m.options())
	}},
	"fair": {queue: queueOf,
		make: func(m maker) (lock.Locker, error) { return lock.NewFair(m.node(0), m.options()) }},
	"fair-fenced": {queue: queueOf,
		make: func(m maker) (lock.Locker, error) { return lock.NewFairFenced(m.node(0), m.options()) }},
	"redlock":          {make: maker.redlock},
	"redlock-watchdog": {make: withWatchdog(maker.redlock)},
	"redlock-fenced": {make: func(m maker) (lock.Locker, error) {
		return lock.NewRedlockFenced(m.majority(), lock.RedlockOptions{Options: m.options()})
	}},
}

// maker makes the lock of one client.
type maker struct {
	env subject.Env
	// first makes that of the first node; nil for one that follows its primary by name.
	first func(e subject.Env) goredis.UniversalClient
}

// node is a client of one node; that of the first node follows its primary.
func (m maker) node(i int) goredis.UniversalClient {
	name := fmt.Sprintf("r%d", i)
	switch {
	case i == 0 && m.first != nil:
		return m.first(m.env)
	case i == 0:
		name = subject.Primary
	}
	return subject.RedisClient(m.env, name)
}

func (m maker) majority() []lock.Redis {
	nodes := make([]lock.Redis, cmp.Or(m.env.Spec().Nodes, kinds.RedlockNodes))
	for i := range nodes {
		nodes[i] = m.node(i)
	}
	return nodes
}

// options are lock options with the clock, the randomness and the owner ids of the
// process.
func (m maker) options() lock.Options {
	spec := m.env.Spec()
	o := lock.Options{
		TTL:     spec.TTL,
		Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
		Clock:   m.env.Clock(),
		Entropy: m.env.Entropy("lock"),
		Jitter:  m.env.Source("lock"),
	}
	if spec.Wait == file.WaitNotify {
		o.Waiting = lock.WaitNotify
	}
	return o
}

func (m maker) single() (lock.Locker, error) { return lock.NewSingle(m.node(0), m.options()) }

func (m maker) fenced() (lock.Locker, error) { return lock.NewFenced(m.node(0), m.options()) }

func (m maker) redlock() (lock.Locker, error) {
	return lock.NewRedlock(m.majority(), lock.RedlockOptions{Options: m.options()})
}

func withWatchdog(inner func(maker) (lock.Locker, error)) func(maker) (lock.Locker, error) {
	return func(m maker) (lock.Locker, error) {
		l, err := inner(m)
		if err != nil {
			return nil, err
		}
		return lock.NewWatchdog(l, lock.WatchdogOptions{Clock: m.env.Clock()})
	}
}

// Kind is one of the locks that come with locksim, also a specimen. The error lists
// the names.
func Kind(name string) (subject.Lock, error) { return KindOver(name, nil) }

// KindOver is [Kind] with the client of its first node that first makes, such as one that finds the primary by
// Sentinels, or one of a Redis Cluster. A nil first is for a client that follows the primary by its name.
func KindOver(name string, first func(e subject.Env) goredis.UniversalClient) (subject.Lock, error) {
	k, err := kinds.Find(name)
	if err != nil {
		return subject.Lock{}, err
	}
	l := subject.Lock{
		Name: name, Traits: subject.Traits{Servers: subject.Redis(k.Redis), Tokens: k.Tokens, Keys: keysOf,
			Promise: k.Promise, About: k.About,
			ForWhom:     k.ForWhom,
			FollowsSpec: true, Quorum: k.Redis > 1},
	}
	if short, ok := strings.CutPrefix(name, kinds.BrokenPrefix); ok {
		if err := specimen(&l, short); err != nil {
			return subject.Lock{}, err
		}
		return l.Cached(), nil
	}
	m := makers[name]
	l.Queue, l.Taken = m.queue, []error{lock.ErrTaken}
	l.New = func(e subject.Env) (lock.Locker, error) { return m.make(maker{e, first}) }
	return l.Cached(), nil
}

// specimen sets the keys and the constructor of the specimen of that name.
func specimen(l *subject.Lock, name string) error {
	s, err := broken.Find(name)
	if err != nil {
		return err
	}
	l.Keys = s.Keys
	if s.Queue {
		l.Queue = queueOf
	}
	l.Promise.Duties = s.Duties
	if s.Detection > 0 {
		l.Lease, l.Detection = subject.LeaseHeld, s.Detection
	}
	l.New = func(e subject.Env) (lock.Locker, error) {
		m := maker{env: e}
		nodes := make([]goredis.Cmdable, s.Nodes)
		if s.Nodes > 1 {
			nodes = make([]goredis.Cmdable, cmp.Or(e.Spec().Nodes, s.Nodes))
		}
		for i := range nodes {
			nodes[i] = m.node(i)
		}
		return s.New(nodes, broken.Options{Options: m.options(), Identity: e.Identity(), Wall: e.WallClock(),
			Point: func(label string) { _ = e.Point(label) }})
	}
	return nil
}

// queueOf is the key in which a fair lock keeps its waiters, in order.
func queueOf(resource string) string { return keysOf(resource)[0] + ":queue" }

// keysOf are the lock keys of a resource; all kinds use the same.
func keysOf(resource string) []string { return []string{lock.DefaultKeyPrefix + "{" + resource + "}"} }
