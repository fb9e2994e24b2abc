package play

import (
	"fmt"
	"strings"

	"locksim/scenarios/file"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken"
	"locksim/scenarios/kinds"
	"locksim/sim/redis"
)

// Lock is a lock under test: one of ours, or anybody's behind a lock.Locker.
type Lock struct {
	// Name is what reports call it.
	Name string
	// New makes the lock of one client, on the dialer, the clocks and the random
	// numbers of its environment. It is called once for each process of a run.
	New func(e Env) (lock.Locker, error)
	// Servers are the servers that it needs. Nil means one Redis server.
	Servers []Servers
	// Tokens says that its leases carry fencing tokens. The modes that need
	// them are not run without.
	Tokens bool
	// Keys names the lock keys of a resource, counters left out. With it, a
	// run tells a key that was left behind; nil means that it does not look.
	Keys func(resource string) []string
	// Promise is what the lock is judged by. The zero promise promises nothing.
	Promise lock.Promise
	// About says in a sentence or two how it works, ForWhom in one for whom it is:
	// for the review of a design, and for a comparison of locks.
	About   string
	ForWhom string

	// FollowsSpec says that New goes by [Env.Spec]: the TTL and the backoff of the
	// lock are those of the scenario. Then they are drawn, and made smaller where a
	// failure is; otherwise a search finds out what they are.
	FollowsSpec bool

	queue   func(resource string) string // the key of its queue; nil for none
	scripts *redis.Scripts               // the cache of compiled scripts; nil for none
}

// Servers are servers of one kind.
type Servers struct {
	// Kind is what they are, Count how many of them.
	Kind  ServerKind
	Count int
}

// Redis are so many Redis servers: r0, r1, …
func Redis(count int) []Servers { return []Servers{{ServerKind{Name: redisName, Prefix: "r"}, count}} }

// redisName is the kind of server that every scenario knows.
const redisName = "redis"

// count is how many servers of a kind the lock needs.
func (l Lock) count(kind string) int {
	if l.Servers == nil && kind == redisName {
		return 1
	}
	for _, s := range l.Servers {
		if s.Kind.Name == kind {
			return s.Count
		}
	}
	return 0
}

// Nodes is how many servers it needs, of whatever kind, 1 at least.
func (l Lock) Nodes() int {
	total := 0
	for _, s := range l.Servers {
		total += s.Count
	}
	return max(total, 1)
}

// Cached is the lock with a cache of what its Redis scripts are compiled to, which
// runs share. They are faster, and the same.
func (l Lock) Cached() Lock {
	if l.scripts == nil {
		l.scripts = new(redis.Scripts)
	}
	return l
}

// Validate says what is missing or makes no sense, or returns nil.
func (l Lock) Validate() error {
	switch {
	case l.Name == "":
		return fmt.Errorf("scenarios: the lock has no Name: reports need one")
	case l.New == nil:
		return fmt.Errorf("scenarios: lock %s has no New: it makes the lock of one client", l.Name)
	}
	if err := validateServers(l.Servers); err != nil {
		return fmt.Errorf("scenarios: lock %s: %w", l.Name, err)
	}
	if err := validatePromise(l.Promise); err != nil {
		return fmt.Errorf("scenarios: lock %s: %w", l.Name, err)
	}
	return nil
}

// made is how one of the locks of package lock is made.
type made struct {
	make  func(m maker) (lock.Locker, error)
	queue func(resource string) string // see [Lock]
}

// makers has an entry for each of [kinds.Names].
var makers = map[string]made{
	"single":           {make: maker.single},
	"fenced":           {make: maker.fenced},
	"watchdog":         {make: withWatchdog(maker.single)},
	"watchdog-fenced":  {make: withWatchdog(maker.fenced)},
	"reentrant":        {make: func(m maker) (lock.Locker, error) { return lock.NewReentrant(m.node(0), m.options()) }},
	"reentrant-fenced": {make: func(m maker) (lock.Locker, error) { return lock.NewReentrantFenced(m.node(0), m.options()) }},
	"fair":             {queue: queueOf, make: func(m maker) (lock.Locker, error) { return lock.NewFair(m.node(0), m.options()) }},
	"fair-fenced":      {queue: queueOf, make: func(m maker) (lock.Locker, error) { return lock.NewFairFenced(m.node(0), m.options()) }},
	"redlock":          {make: maker.redlock},
	"redlock-watchdog": {make: withWatchdog(maker.redlock)},
	"redlock-fenced": {make: func(m maker) (lock.Locker, error) {
		return lock.NewRedlockFenced(m.majority(), lock.RedlockOptions{Options: m.options()})
	}},
}

// maker makes the lock of one client.
type maker struct{ env Env }

// node is a client of one node; the first is wherever its primary is.
func (m maker) node(i int) *goredis.Client {
	name := fmt.Sprintf("r%d", i)
	if i == 0 {
		name = Primary
	}
	opt := m.profile()
	opt.Addr = m.env.Address(name)
	return redis.ClientWith(m.env, opt)
}

// profile are the options of a client. In the quiet profile requests end with
// their contexts, which the bounds of the locks rely on; go-redis does not do
// that by default.
func (m maker) profile() *goredis.Options {
	if m.env.Spec().Client == file.ClientStock {
		return redis.Stock()
	}
	opt := redis.Quiet()
	opt.ContextTimeoutEnabled = true
	return opt
}

func (m maker) majority() []lock.Redis {
	nodes := make([]lock.Redis, kinds.RedlockNodes)
	for i := range nodes {
		nodes[i] = m.node(i)
	}
	return nodes
}

// options give a lock the time, the randomness and the owner ids of its
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

// withWatchdog puts a watchdog over a lock.
func withWatchdog(inner func(maker) (lock.Locker, error)) func(maker) (lock.Locker, error) {
	return func(m maker) (lock.Locker, error) {
		l, err := inner(m)
		if err != nil {
			return nil, err
		}
		return lock.NewWatchdog(l, lock.WatchdogOptions{Clock: m.env.Clock()})
	}
}

// Kind is one of the locks that come with locksim, a specimen too. The error lists
// the names that there are.
func Kind(name string) (Lock, error) {
	k, err := kinds.Find(name)
	if err != nil {
		return Lock{}, err
	}
	l := Lock{
		Name: name, Servers: Redis(k.Redis), Tokens: k.Tokens, Keys: keysOf, Promise: k.Promise, About: k.About,
		ForWhom:     k.ForWhom,
		FollowsSpec: true,
	}
	if short, ok := strings.CutPrefix(name, kinds.BrokenPrefix); ok {
		if err := l.specimen(short); err != nil {
			return Lock{}, err
		}
		return l.Cached(), nil
	}
	m := makers[name]
	l.queue = m.queue
	l.New = func(e Env) (lock.Locker, error) { return m.make(maker{e}) }
	return l.Cached(), nil
}

// specimen makes the lock the specimen of that name.
func (l *Lock) specimen(name string) error {
	s, err := broken.Find(name)
	if err != nil {
		return err
	}
	l.Keys = s.Keys
	l.New = func(e Env) (lock.Locker, error) {
		m := maker{e}
		nodes := make([]goredis.Cmdable, s.Nodes)
		for i := range nodes {
			nodes[i] = m.node(i)
		}
		return s.New(nodes, broken.Options{Options: m.options(), Wall: e.WallClock(), Point: func(label string) { _ = e.Point(label) }})
	}
	return nil
}

// FindLock is the lock of that name: one of extra, or a kind that comes with
// locksim. The error lists them all.
func FindLock(name string, extra []Lock) (Lock, error) {
	names := kinds.Names()
	for _, l := range extra {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	if kinds.Reserved(name) {
		return Kind(name)
	}
	return Lock{}, fmt.Errorf("there is no lock %q: there are %s", name, strings.Join(names, ", "))
}

// queueOf is the key in which a fair lock keeps who waits, in order.
func queueOf(resource string) string { return keysOf(resource)[0] + ":queue" }

// keysOf are the lock keys of a resource; all kinds use the same.
func keysOf(resource string) []string { return []string{lock.DefaultKeyPrefix + "{" + resource + "}"} }
