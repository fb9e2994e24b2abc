package play

import (
	"fmt"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
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
	scripts *redis.Scripts               // what is kept of Redis scripts from run to run
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

// nodes is how many servers it needs, of whatever kind.
func (l Lock) nodes() int {
	total := 0
	for _, s := range l.Servers {
		total += s.Count
	}
	return max(total, 1)
}

// kept is the lock with a place for what is kept from run to run.
func (l Lock) kept() Lock {
	if l.scripts == nil {
		l.scripts = new(redis.Scripts)
	}
	return l
}

// Nodes is how many servers it needs, of whatever kind, 1 at least.
func (l Lock) Nodes() int { return l.nodes() }

func (l Lock) validate() error {
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

// kind is one of the locks of package lock: what it needs, and how it is made.
type kind struct {
	name   string
	nodes  int // 0 means 1
	tokens bool
	queue  func(resource string) string
	make   func(m maker) (lock.Locker, error)
}

// kinds are the locks that come with locksim, by the names that scenario files
// use.
var kinds = []kind{
	{name: "single", make: maker.single},
	{name: "fenced", tokens: true, make: maker.fenced},
	{name: "watchdog", make: watched(maker.single)},
	{name: "watchdog-fenced", tokens: true, make: watched(maker.fenced)},
	{name: "reentrant", make: func(m maker) (lock.Locker, error) { return lock.NewReentrant(m.node(0), m.options()) }},
	{name: "reentrant-fenced", tokens: true, make: func(m maker) (lock.Locker, error) { return lock.NewReentrantFenced(m.node(0), m.options()) }},
	{name: "fair", queue: queueOf, make: func(m maker) (lock.Locker, error) { return lock.NewFair(m.node(0), m.options()) }},
	{name: "fair-fenced", tokens: true, queue: queueOf, make: func(m maker) (lock.Locker, error) { return lock.NewFairFenced(m.node(0), m.options()) }},
	{name: "redlock", nodes: redlockNodes, make: maker.redlock},
	{name: "redlock-watchdog", nodes: redlockNodes, make: watched(maker.redlock)},
	{name: "redlock-fenced", nodes: redlockNodes, tokens: true, make: func(m maker) (lock.Locker, error) {
		return lock.NewRedlockFenced(m.majority(), lock.RedlockOptions{Options: m.options()})
	}},
}

// redlockNodes is how many nodes a Redlock runs on.
const redlockNodes = 5

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
	if m.env.Spec().Client == ClientStock {
		return redis.Stock()
	}
	opt := redis.Quiet()
	opt.ContextTimeoutEnabled = true
	return opt
}

func (m maker) majority() []lock.Redis {
	nodes := make([]lock.Redis, redlockNodes)
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
	if spec.Wait == WaitNotify {
		o.Waiting = lock.WaitNotify
	}
	return o
}

func (m maker) single() (lock.Locker, error) { return lock.NewSingle(m.node(0), m.options()) }

func (m maker) fenced() (lock.Locker, error) { return lock.NewFenced(m.node(0), m.options()) }

func (m maker) redlock() (lock.Locker, error) {
	return lock.NewRedlock(m.majority(), lock.RedlockOptions{Options: m.options()})
}

// watched puts a watchdog over a lock.
func watched(inner func(maker) (lock.Locker, error)) func(maker) (lock.Locker, error) {
	return func(m maker) (lock.Locker, error) {
		l, err := inner(m)
		if err != nil {
			return nil, err
		}
		return lock.NewWatchdog(l, lock.WatchdogOptions{Clock: m.env.Clock()})
	}
}

// Kinds are the names of the locks that come with locksim.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Kind is one of the locks that come with locksim. The error lists the kinds.
func Kind(name string) (Lock, error) {
	if specimen, ok := strings.CutPrefix(name, brokenPrefix); ok {
		return brokenLock(specimen)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return Lock{}, fmt.Errorf("there is no lock kind %q: there are %s", name, strings.Join(Kinds(), ", "))
	}
	k := kinds[i]
	promise, _ := lock.PromiseOf(name)
	return Lock{
		Name: name, Servers: Redis(max(k.nodes, 1)), Tokens: k.tokens, Keys: keysOf, Promise: promise, About: abouts[name],
		ForWhom: forWhom[name], FollowsSpec: true, queue: k.queue,
		New: func(e Env) (lock.Locker, error) { return k.make(maker{e}) },
	}.kept(), nil
}

// FindLock is the lock of that name: one of extra, or a kind that comes with
// locksim. The error lists them all.
func FindLock(name string, extra []Lock) (Lock, error) {
	names := Kinds()
	for _, l := range extra {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	if ComesWithLocksim(name) {
		return Kind(name)
	}
	return Lock{}, fmt.Errorf("there is no lock %q: there are %s", name, strings.Join(names, ", "))
}

// ComesWithLocksim reports whether Kind makes a lock of that name, or says that
// there is no such specimen.
func ComesWithLocksim(name string) bool {
	return slices.Contains(Kinds(), name) || strings.HasPrefix(name, brokenPrefix)
}

// redisNeededBy is how many Redis servers a lock needs that comes with locksim.
func redisNeededBy(name string) (count int, ok bool) {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		return max(kinds[i].nodes, 1), true
	}
	l, err := Kind(name)
	return l.count(redisName), err == nil
}

// queueOf is the key in which a fair lock keeps who waits, in order.
func queueOf(resource string) string { return keysOf(resource)[0] + ":queue" }

// keysOf are the lock keys of a resource; all kinds use the same.
func keysOf(resource string) []string { return []string{lock.DefaultKeyPrefix + "{" + resource + "}"} }
