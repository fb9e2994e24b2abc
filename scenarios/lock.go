package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/sim"
)

// Lock is a lock under test: one of ours, or anybody's behind a lock.Locker.
type Lock struct {
	// Name is what reports call it.
	Name string
	// New makes the lock of one client, on the clients and clocks of its
	// process. It is called once for each process of a run, inside the world.
	New func(p *sim.Process) (lock.Locker, error)
	// Nodes is the number of Redis nodes that it needs; 0 means 1.
	Nodes int
	// Tokens says that its leases carry fencing tokens. The modes that need
	// them are not run without.
	Tokens bool
	// Keys names the lock keys of a resource, counters left out. With it, a
	// run tells a key that was left behind; nil means that it does not look.
	Keys func(resource string) []string
	// Promise is what the lock is judged by. The zero promise promises nothing.
	Promise lock.Promise
	// About says in a sentence or two how it works, for the review of a design.
	// Nothing else reads it.
	About string

	queue  func(resource string) string // the key of its queue; nil for none
	remade func(LockSpec) (Lock, error) // makes the lock by another spec; nil: it is as it is
}

// as is the lock as a scenario wants it: with its TTL and ways, where the lock
// comes with locksim, and otherwise unchanged.
func (l Lock) as(spec LockSpec) (Lock, error) {
	if l.remade == nil {
		return l, nil
	}
	again, err := l.remade(spec)
	if err != nil {
		return Lock{}, err
	}
	again.Promise = l.Promise // which its user may have changed
	return again, nil
}

func (l Lock) validate() error {
	switch {
	case l.Name == "":
		return fmt.Errorf("scenarios: the lock has no Name: reports need one")
	case l.New == nil:
		return fmt.Errorf("scenarios: lock %s has no New: it makes the lock of one client", l.Name)
	case l.Nodes < 0 || l.Nodes > MaxRedis:
		return fmt.Errorf("scenarios: lock %s wants %d Redis nodes: give 0 to %d", l.Name, l.Nodes, MaxRedis)
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

// maker makes the lock of one process.
type maker struct {
	p    *sim.Process
	spec LockSpec
}

// node is a client of one node; the first is wherever its primary is.
func (m maker) node(i int) *redis.Client {
	name := fmt.Sprintf("r%d", i)
	if i == 0 {
		name = sim.Primary
	}
	opt := m.profile()
	opt.Addr = m.p.Address(name)
	return m.p.RedisWith(opt)
}

// profile are the options of a client. In the quiet profile requests end with
// their contexts, which the bounds of the locks rely on; go-redis does not do
// that by default.
func (m maker) profile() *redis.Options {
	if m.spec.Client == ClientStock {
		return sim.StockRedis()
	}
	opt := sim.QuietRedis()
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
	o := lock.Options{
		TTL:     m.spec.TTL,
		Backoff: lock.Backoff{Min: m.spec.Backoff.Min, Max: m.spec.Backoff.Max},
		Clock:   m.p.Clock(),
		Entropy: m.p.Entropy("lock"),
		Jitter:  m.p.Source("lock"),
	}
	if m.spec.Wait == WaitNotify {
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
		return lock.NewWatchdog(l, lock.WatchdogOptions{Clock: m.p.Clock()})
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

// Kind makes one of the locks that come with locksim, with the TTL and backoff
// of the spec. The error lists the kinds.
func Kind(name string, spec LockSpec) (Lock, error) {
	if specimen, ok := strings.CutPrefix(name, brokenPrefix); ok {
		return brokenLock(specimen, spec)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return Lock{}, fmt.Errorf("there is no lock kind %q: there are %s", name, strings.Join(Kinds(), ", "))
	}
	k := kinds[i]
	promise, _ := lock.PromiseOf(name)
	remade := func(spec LockSpec) (Lock, error) { return Kind(name, spec) }
	return Lock{Name: name, Nodes: k.nodes, Tokens: k.tokens, Keys: keysOf, Promise: promise, About: abouts[name], queue: k.queue, remade: remade, New: func(p *sim.Process) (lock.Locker, error) {
		return k.make(maker{p, spec})
	}}, nil
}

// FindLock is the lock of that name: one of extra, or a kind that comes with
// locksim, made by the spec. The error lists them all.
func FindLock(name string, spec LockSpec, extra []Lock) (Lock, error) {
	names := Kinds()
	for _, l := range extra {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	if slices.Contains(Kinds(), name) || strings.HasPrefix(name, brokenPrefix) {
		return Kind(name, spec)
	}
	return Lock{}, fmt.Errorf("there is no lock %q: there are %s", name, strings.Join(names, ", "))
}

// queueOf is the key in which a fair lock keeps who waits, in order.
func queueOf(resource string) string { return keysOf(resource)[0] + ":queue" }

// keysOf are the lock keys of a resource; all kinds use the same.
func keysOf(resource string) []string { return []string{lock.DefaultKeyPrefix + "{" + resource + "}"} }
