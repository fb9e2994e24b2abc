package play

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// Learnt is what was learnt of the keys of a lock that names none in [subject.Traits].Keys. A key of the lock is one
// that each grant sets, on the servers, that its release deletes at once, and that no client changes which is kept out
// meanwhile.
type Learnt struct {
	// Keys are the keys, sorted. A name that ends with a slash stands for the keys under it, of which the one that was
	// created first is that of the holder, as in a queue of etcd or ZooKeeper.
	Keys []string
	// Fleeting are the keys that each grant sets, and that are gone when Acquire returns, where it leaves none. They say
	// nothing of who has the lock.
	Fleeting []string
	// Why says why no key was learnt. It is empty if one was.
	Why string
}

// String is "the lock's key was learnt: lock:{order}", or why none was.
func (l Learnt) String() string {
	switch len(l.Keys) {
	case 0:
		return "no key was learnt: " + l.Why
	case 1:
		return "the lock’s key was learnt: " + trace.Name(l.Keys[0])
	}
	return "the lock’s keys were learnt: " + keysInWords(l.Keys)
}

// Learn finds out the keys of a resource from a calm run in the servers of a scenario: two clients have the lock one
// after another, and then one waits for the other. It says nothing of the lock's Keys, and does not depend on anything
// else than the lock, its servers and the name: what was learnt once is learnt again in another process. A lock that
// cannot be acquired there is no error, since nothing is learnt of it. The error is a [*Frozen], after which the
// process must exit.
func Learn(l subject.Lock, sc *file.Scenario, resource string) (Learnt, error) {
	l, err := l.In(sc)
	if err != nil {
		return Learnt{}, err
	}
	if err := l.Missing(); err != nil {
		return Learnt{}, err
	}
	return learn(l, sc, resource)
}

// lessons are what was learnt of a lock, by the setting. It is safe for concurrent use.
type lessons struct {
	mu     sync.Mutex
	keys   map[string]Learnt
	renews map[string]bool
}

// taught is a lock as it is played: with the keys that were learnt, if it names none, and with the duty to renew its
// leases if it was seen to do so.
type taught struct {
	subject.Lock
	learnt bool // its keys were
	// fleeting are keys that were learnt, and that say nothing of who has the lock: see [Learnt].
	fleeting []string
}

// teach prepares a lock that is about to be played.
func teach(l subject.Lock, sc *file.Scenario) (taught, error) {
	l, err := renewing(l, sc)
	if err != nil || l.Keys != nil {
		return taught{Lock: l}, err
	}
	keys := map[string][]string{}
	of := taught{Lock: l, learnt: true}
	for _, resource := range sc.Workload.Resources {
		lesson, err := learn(l, sc, resource)
		if err != nil {
			return of, err
		}
		keys[resource] = lesson.Keys
		of.fleeting = append(of.fleeting, lesson.Fleeting...)
	}
	of.Keys = func(resource string) []string { return keys[resource] }
	return of, nil
}

// learn learns the keys of a lock that has its servers, or remembers them.
func learn(l subject.Lock, sc *file.Scenario, resource string) (Learnt, error) {
	setting := lesson(sc, resource)
	setting.World.Replicas = l.LeastReplicas()
	known := subject.Shared[lessons](l)
	if known == nil {
		return study(l, setting)
	}
	name := lessonName(l, setting)
	known.mu.Lock()
	defer known.mu.Unlock()
	if of, ok := known.keys[name]; ok {
		return of, nil
	}
	of, err := study(l, setting)
	if err != nil {
		return of, err
	}
	if known.keys == nil {
		known.keys = map[string]Learnt{}
	}
	known.keys[name] = of
	return of, nil
}

// lessonName tells a setting from others.
func lessonName(l subject.Lock, s *file.Scenario) string {
	return fmt.Sprintf("%s %q %d %d %d %s %v", l.Name, s.Workload.Resources[0], l.Nodes(), s.World.Redis, s.Lock.Nodes,
		s.Lock.Wait, s.World.Servers)
}

// lesson is the setting in which the keys are learnt. Of the scenario that is to be played it has the servers, and the
// way of waiting, which may add keys; all else is the same for all scenarios.
func lesson(sc *file.Scenario, resource string) *file.Scenario {
	s := file.Defaults()
	s.Name = "learn the keys"
	s.World.Redis, s.World.Servers = sc.World.Redis, sc.World.Servers
	s.World.Latency = file.Range{Min: time.Microsecond, Max: time.Microsecond}
	s.Lock.Kind, s.Store, s.Lock.Nodes, s.Lock.Wait = sc.Lock.Kind, sc.Store, sc.Lock.Nodes, sc.Lock.Wait
	s.Lock.Backoff = file.Range{Min: time.Millisecond, Max: 10 * time.Millisecond}
	s.Workload.Resources = []string{resource}
	return s
}

const (
	lessonSeed = 1 // any other is as good
	// lessonWait is how long a client asks for the lock.
	lessonWait = 30 * time.Second
	// lessonHold is how long a client has the lock while another one waits: long for a round trip, and short for a TTL.
	lessonHold = 10 * time.Millisecond
	// lessonPause is what a release may take on other servers than that which has answered.
	lessonPause = 10 * time.Millisecond
)

// study makes the run. What is wrong with the lock is left to the runs that judge it.
func study(l subject.Lock, setting *file.Scenario) (Learnt, error) {
	s := &student{play: newPlay(setting, taught{Lock: l}), resource: setting.Workload.Resources[0]}
	err := s.simulate(10*lessonWait, s.body)
	if frozen, ok := errors.AsType[*Frozen](err); ok {
		return Learnt{}, fmt.Errorf("lock %s, in a run without faults that is to show its keys: %w", l.Name, frozen)
	}
	if s.learnt.Keys == nil && s.learnt.Why == "" {
		s.learnt.Why = "two clients, one after another, could not acquire and release the lock"
		if err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n") // some errors have stacks
			s.learnt.Why += ": " + line
		}
	}
	return s.learnt, nil
}

// student watches what a lock does to the keys of its servers.
type student struct {
	*play
	resource string
	clients  []learner
	learnt   Learnt
	seen     map[string]bool // the keys that there were at some moment of an Acquire, where that is asked
}

// learner is a client of the lock.
type learner struct {
	proc   Machine
	locker lock.Locker
}

// body is the run.
func (s *student) body(w Stage) error {
	s.world = w
	for _, m := range w.Clients() {
		c, err := learner{proc: m}, error(nil)
		m.Go(func() { c.locker, err = s.newLocker(m) })
		if failed := w.RunUntil(w.Idle); failed != nil || err != nil {
			return errors.Join(failed, err)
		}
		s.clients = append(s.clients, c)
	}
	before := s.names()
	var set, seen [2][]string
	for i, c := range s.clients {
		s.seen = map[string]bool{}
		if _, err := s.turn(c, func() {
			set[i], seen[i] = without(s.names(), before),
				slices.Sorted(maps.Keys(s.seen))
		}); err != nil {
			return err
		}
	}
	s.seen = nil
	candidates := common(set)
	switch {
	case len(set[0]) == 0 && slices.ContainsFunc(w.Ground().Servers(), func(of ServerState) bool { return !of.Listed }):
		s.learnt.Why = "its servers do not list what they have"
		return nil
	case len(set[0]) == 0 && len(seen[0]) > 0:
		s.learnt.Why = "Acquire sets nothing that it leaves"
		s.learnt.Fleeting = without(common(seen), before)
		return nil
	case len(set[0]) == 0:
		s.learnt.Why = "Acquire sets nothing"
		return nil
	case len(candidates) == 0:
		s.learnt.Why = fmt.Sprintf("Acquire sets keys whose names differ from client to client, such as %s",
			trace.Name(set[0][0]))
		return nil
	}
	w.Ground().WatchKeys(candidates...)
	return s.examine(candidates)
}

// names are the names of all keys, on whichever server, sorted.
func (s *student) names() []string {
	var names []string
	for _, server := range s.world.Ground().Servers() {
		for _, k := range server.Keys {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// without are the names of which others has none.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// common are the names that both clients have set and, of those that differ, what both are under, sorted.
func common(set [2][]string) []string {
	both := map[string]int{}
	for i, names := range set {
		for _, name := range append(slices.Clone(names), parents(without(names, set[1-i]))...) {
			both[name] |= 1 << i
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(both)), func(name string) bool { return both[name] != 3 })
}

// parents are the names up to the last slash.
func parents(names []string) []string {
	var out []string
	for _, name := range names {
		if i := strings.LastIndex(name, "/"); i > 0 {
			out = append(out, name[:i+1])
		}
	}
	return out
}

// examine keeps the keys that a grant sets and its release deletes, and of which a waiter changes nothing.
func (s *student) examine(candidates []string) error {
	began := len(s.world.Ground().KeyChanges())
	granted, err := s.turn(s.clients[0], func() {})
	if err != nil {
		return err
	}
	changes := s.world.Ground().KeyChanges()
	kept := slices.DeleteFunc(slices.Clone(candidates), func(key string) bool {
		return !s.sets(key, changes[began:granted]) || !s.deletes(key, changes[granted:])
	})
	if len(kept) == 0 {
		them := "them"
		if len(candidates) == 1 {
			them = "it"
		}
		s.learnt.Why = fmt.Sprintf("Acquire sets %s, and Release leaves %s", keysInWords(candidates), them)
		return nil
	}
	s.learnt.Keys, err = s.exclude(kept)
	if err == nil && len(s.learnt.Keys) == 0 {
		s.learnt.Why = fmt.Sprintf("%s does not say who has the lock, since not only its holder sets and deletes it",
			keysInWords(kept))
	}
	return err
}

// sets reports whether the first client has set a key.
func (s *student) sets(key string, changes []trace.KeyChange) bool {
	return slices.ContainsFunc(changes, func(c trace.KeyChange) bool {
		return c.Key == key && c.Change == trace.KeySet && c.By == s.clients[0].proc.Name()
	})
}

// deletes reports whether the first client has deleted a key from every server on which it has changed. A replica
// deletes what its primary has deleted, and no client is named for that.
func (s *student) deletes(key string, changes []trace.KeyChange) bool {
	last := map[string]trace.KeyChange{}
	for _, c := range changes {
		is, _ := s.world.Trace().Servers.Find(c.Server)
		if c.Change != trace.KeyProlonged && c.Key == key && is.Role != trace.RoleReplica {
			last[c.Server] = c
		}
	}
	for _, c := range last {
		if c.Change != trace.KeyDeleted || c.By != s.clients[0].proc.Name() {
			return false
		}
	}
	return len(last) > 0
}

// turn lets a client acquire and release the lock, and calls held meanwhile. It returns the number of key changes up to
// the grant.
func (s *student) turn(c learner, held func()) (granted int, err error) {
	lease, end, err := s.acquire(c)
	if err != nil {
		return 0, err
	}
	defer end()
	held()
	granted = len(s.world.Ground().KeyChanges())
	c.proc.Go(func() { _ = lease.Release(c.proc.Context()) })
	if err := s.world.RunUntil(s.world.Idle); err != nil {
		return 0, err
	}
	return granted, s.pass(lessonPause)
}

// acquire lets a client that is alone acquire the lock. end is called when the lease is over.
func (s *student) acquire(c learner) (lease lock.Lease, end func(), err error) {
	end = func() {}
	refused := errors.New("the goroutine of Acquire ended without a result")
	c.proc.Go(func() {
		ctx, cancel := withDeadline(c.proc.Context(), lessonWait)
		end = cancel
		lease, refused = c.locker.Acquire(ctx, s.resource)
	})
	if err := s.world.RunUntil(func() bool {
		if s.seen != nil {
			for _, name := range s.names() {
				s.seen[name] = true
			}
		}
		return s.world.Idle()
	}); err != nil {
		return nil, end, err
	}
	if refused != nil {
		end()
		return nil, end, fmt.Errorf("%s, which was alone, was not granted the lock: %w", c.proc.Name(), refused)
	}
	return lease, end, nil
}

// pass lets time pass.
func (s *student) pass(d time.Duration) error {
	over := false
	s.world.After(d, func() { over = true })
	return s.world.RunUntil(func() bool { return over })
}

// exclude leaves out the keys that do not say who has the lock: a client that waits, and is kept out, changes them too,
// or they are not set by the one that is granted the lock after a wait. A lock that lets the other client in shows
// neither.
func (s *student) exclude(keys []string) ([]string, error) {
	first, second := s.clients[0], s.clients[1]
	lease, end, err := s.acquire(first)
	if err != nil {
		return keys, nil //nolint:nilerr // it was granted twice before
	}
	defer end()
	var released, granted time.Duration
	first.proc.Go(func() {
		_ = first.proc.Clock().Sleep(first.proc.Context(), lessonHold)
		released = s.world.Now()
		_ = lease.Release(first.proc.Context())
	})
	began := len(s.world.Ground().KeyChanges())
	second.proc.Go(func() {
		ctx, cancel := withDeadline(second.proc.Context(), lessonWait)
		defer cancel()
		if lease, err := second.locker.Acquire(ctx, s.resource); err == nil {
			granted = s.world.Now()
			_ = lease.Release(second.proc.Context())
		}
	})
	if err := s.world.RunUntil(s.world.Idle); err != nil {
		return nil, err
	}
	if granted > 0 && granted < released {
		return keys, nil
	}
	changes := s.world.Ground().KeyChanges()[began:]
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		takes := false
		for _, c := range changes {
			switch {
			case c.Change == trace.KeyProlonged || c.Key != key || c.By != second.proc.Name():
			case c.At < released:
				return true
			default:
				takes = takes || c.Change == trace.KeySet && c.At <= granted
			}
		}
		return granted > 0 && !takes
	}), nil
}

// keysInWords lists the names of keys.
func keysInWords(keys []string) string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = trace.Name(key)
	}
	return prose.Commas(names)
}
