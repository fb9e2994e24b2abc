package subject

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
)

// Lock is a lock under test: one of ours, or any other behind a lock.Locker.
type Lock struct {
	// Name is its name in reports.
	Name string
	// New makes the lock of one client, with the dialer, the clocks and the random
	// numbers of its environment. It is called once for each process of a run.
	New func(e Env) (lock.Locker, error)
	// Traits are what is known of it. The zero value is that of a lock on one Redis server that promises nothing.
	Traits

	cache *cache        // what runs keep for the next ones; nil for nothing
	votes int           // how many of its servers grant it, if others have the data; 0 for all
	kind  string        // its name in lock.kind of a scenario, if that is not Name
	own   *lock.Promise // what it promises, if whether claims overlap is all that is asked; else nil
}

// Traits are what a lock says of itself: what it needs, how its user sees it, and what it promises.
type Traits struct {
	// Servers are the servers that it needs. Nil means one Redis server.
	Servers []Servers
	// Replicas is how many replicas of r0 it needs to be granted at all, for a lock that waits until they
	// have its key: 0 to [file.MaxReplicas]. A run of a scenario with fewer has so many. Searches draw at
	// least so many, and no lag of theirs that is longer than a message takes.
	Replicas int
	// Tokens says that its leases carry fencing tokens. The modes that need tokens
	// are not run without. A lease with the token 0 is an error of the run then or, for a
	// lock that promises [promise.DutyKeeps], a violation.
	Tokens bool
	// Keys are the lock keys of a resource, without counters. A run knows by them who has the lock, and detects a key
	// that was left behind. With nil they are learnt: see [Lock.Learn]. An empty list means that there is no such key.
	Keys func(resource string) []string
	// Quorum says that New makes a lock over as many Redis servers as Env.Spec().Nodes
	// says, unless that is 0. Other locks refuse a scenario that chooses a number.
	Quorum bool
	// Queue is the key in which a resource's waiters queue, by owner id, for a lock
	// that grants in the order in which they joined it. A holder has left it, or has its
	// place in it until it releases. It needs Keys. Nil means that
	// there is no order.
	Queue func(resource string) string
	// Section is what its user does under it, in place of the section of each scenario.
	// The zero value leaves that to the scenario.
	Section Section
	// Data lets its holders work on data in its own servers, in scenarios that say so. Nil is for a lock without.
	Data *Data
	// Waits says that New follows the scenario's way of waiting, [Env.Spec].Wait.
	Waits bool
	// Messages is how many messages to and from a server, one after another, a client needs at most from when the lock is
	// free to its grant, if it asks at once: those of an attempt that comes too early, and of the one after it. 0 means 8.
	Messages int
	// GrantTime is how long an Acquire that has the lock may take to be sure of it, besides its messages, on a whole
	// network. 0 is for a lock whose Acquire returns when it is answered.
	GrantTime time.Duration
	// Promise is what the lock is judged by. The zero value promises nothing.
	Promise lock.Promise
	// About says in a sentence or two how it works, ForWhom in one for what it is
	// suitable: for the review of a design, and for a comparison of locks.
	About   string
	ForWhom string

	// Lease says how the end of a lease is known. "" means [LeaseUntil]: by its Until. A lock whose Until returns the zero
	// time sets [LeaseCounted] or [LeaseHeld].
	Lease LeaseForm
	// LeaseTTL is the TTL of a lock whose leases are counted from the request
	// ([LeaseCounted]). 0 means that of the scenario, for a lock that follows it.
	//
	// With [LeaseHeld] it is how long the lock lasts after the last write of its holder, where no server ends it, such as
	// a lease by a timestamp in the value: another client that takes it sooner has put the holder out. 0 means that this
	// is not known, and not judged.
	LeaseTTL time.Duration
	// Detection is how long a holder may take to learn that it has lost the lock,
	// for a lock that is held until it is told ([LeaseHeld]), while it runs and
	// reaches the servers: how often the lock looks whether it still has its key or its
	// session. 0 means the TTL of the scenario, for a lock that follows it. It is judged,
	// with a few round trips more, where the record of steady servers says when the lock was
	// lost ([checker.Facts.Misconduct]), and decides when two holders at once are a violation.
	Detection time.Duration

	// Taken are the errors, besides [lock.ErrTaken], with which its Acquire and TryAcquire say that another client has the
	// lock: those that wrap one of them. A client that does not wait asks again after one. With it, any other error of an
	// Acquire is a violation if nothing was wrong; without, only one of a client that was alone.
	Taken []error

	// FollowsSpec says that New uses [Env.Spec]: the TTL and the backoff of the
	// lock are those of the scenario. A search then draws them, and shrinks them
	// with a failure; otherwise it measures them.
	FollowsSpec bool

	// Settings are those that a scenario may have under lock.settings, which New reads with [Setting.In]. TTLIs is what
	// the library of the lock calls the TTL of the scenario, if it has a word of its own: "LeaseDuration". TTLUnit is what
	// the TTL must be a whole number of where a scenario has settings. 0 is for any.
	Settings []Setting
	TTLIs    string
	TTLUnit  time.Duration
	// Tuned, if not nil, are the traits with the settings of a scenario that has some.
	Tuned func(t Traits, spec file.LockSpec) Traits

	// Pause is the pause between two tries of a client that waits, for a lock that has a backoff of its own; where pauses
	// grow, the longest. [promise.DutySpares] is judged by it, and a lone client at the end of a run has as long to get
	// the lock, where that is more than two seconds. 0 is for a lock that does not say it, or follows the scenario.
	Pause time.Duration
}

// Servers are servers of one kind.
type Servers struct {
	// Kind is their kind, Count their number.
	Kind  ServerKind
	Count int
}

// Redis is the given number of Redis servers: r0, r1, …
func Redis(count int) []Servers { return []Servers{{RedisKind(), count}} }

// Needs are the servers that the lock needs: Servers or, if that is nil, one Redis server.
func (l Lock) Needs() []Servers {
	if l.Servers == nil {
		return Redis(1)
	}
	return l.Servers
}

// Count is the number of servers of a kind that the lock needs.
func (l Lock) Count(kind string) int {
	for _, s := range l.Needs() {
		if s.Kind.Name == kind {
			return s.Count
		}
	}
	return 0
}

// Nodes is the number of servers it needs, of all kinds, 1 at least.
func (l Lock) Nodes() int {
	total := 0
	for _, s := range l.Servers {
		if s.Kind.grants() {
			total += s.Count
		}
	}
	return max(total, 1)
}

// voters is the number of servers that grant the lock independently of each other: a cluster is one.
func (l Lock) voters() int {
	if l.votes > 0 {
		return l.votes
	}
	total := 0
	for _, s := range l.Servers {
		if !s.Kind.grants() {
			continue
		}
		if s.Kind.Settles > 0 {
			total++
		} else {
			total += s.Count
		}
	}
	return max(total, 1)
}

// late is how long an answer is kept from the code of the lock: see [ServerKind.Late].
func (l Lock) late() (longest time.Duration) {
	for _, s := range l.Servers {
		longest = max(longest, s.Kind.Late)
	}
	return longest
}

// settles is how long its servers take to serve again after trouble of one of them: see [ServerKind.Settles].
func (l Lock) settles() time.Duration {
	longest := time.Duration(0)
	for _, s := range l.Servers {
		longest = max(longest, s.Kind.Settles)
	}
	return longest
}

// watched reports whether some of its servers watch those of Redis, and replace a primary that does not answer.
func (l Lock) watched() bool {
	return slices.ContainsFunc(l.Servers, func(s Servers) bool { return s.Kind.Watches })
}

// sharded reports whether its servers are the nodes of a Redis Cluster.
func (l Lock) sharded() bool {
	return slices.ContainsFunc(l.Servers, func(s Servers) bool { return s.Kind.Shards > 0 })
}

// LeastReplicas is the least number of replicas of r0 in its worlds.
func (l Lock) LeastReplicas() int {
	least := l.Replicas
	if l.watched() {
		least = max(least, watchedReplicas)
	}
	return least
}

// watchedReplicas is the number of replicas where others watch the primary.
const watchedReplicas = 2

// In is the lock in the world of a scenario: over the number of nodes that the scenario chooses, and with servers that
// have its settings. Errors are those of the scenario.
func (l Lock) In(sc *file.Scenario) (Lock, error) {
	l.Servers = slices.Clone(l.Servers)
	for i, s := range l.Servers {
		if s.Kind.In != nil {
			l.Servers[i].Kind = s.Kind.In(sc.World)
		}
	}
	if err := l.checkSettings(sc); err != nil {
		return l, err
	}
	if l.Tuned != nil && len(sc.Lock.Settings) > 0 {
		l.Traits = l.Tuned(l.Traits, sc.Lock)
	}
	switch n := sc.Lock.Nodes; {
	case n == 0:
	case !l.Quorum:
		return l, sc.ErrorAt(sc.Pos("lock.nodes"), "lock.nodes: lock %s is no lock over a quorum of any number of nodes: "+
			"leave it out", l.Name)
	case l.votes > 0: // others of its servers have the data
		l.votes = n
		for i, s := range l.Servers {
			if s.Kind.Name == server.Redis.Name {
				l.Servers[i].Count = n
			}
		}
	default:
		l.Servers = Redis(n)
	}
	return l, l.powered(sc)
}

// Cached is the lock with a cache of its compiled Redis scripts, and of what was learnt of its keys, which runs share.
// They are faster, and otherwise the same. A copy shares the cache: give it another Name if it is to be another lock.
func (l Lock) Cached() Lock {
	if l.cache == nil {
		l.cache = new(cache)
	}
	return l
}

// cache has a value of each type that runs of a lock share. It is safe for concurrent use.
type cache struct {
	mu     sync.Mutex
	values map[reflect.Type]any
}

// Shared is the value of a type that all runs of a lock share, zero at first; nil for a lock without a cache: see
// [Lock.Cached]. It is safe for concurrent use, if the type is.
func Shared[T any](l Lock) *T {
	if l.cache == nil {
		return nil
	}
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	of := reflect.TypeFor[T]()
	if v, ok := l.cache.values[of]; ok {
		return v.(*T)
	}
	if l.cache.values == nil {
		l.cache.values = map[reflect.Type]any{}
	}
	v := new(T)
	l.cache.values[of] = v
	return v
}

// Validate returns an error for the first field that is missing or invalid.
func (l Lock) Validate() error {
	switch {
	case l.Name == "":
		return fmt.Errorf("the lock has no Name: reports need one")
	case l.New == nil:
		return fmt.Errorf("lock %s has no New: it makes the lock of one client", l.Name)
	}
	if err := validateServers(l.Servers); err != nil {
		return fmt.Errorf("lock %s: %w", l.Name, err)
	}
	if l.Replicas < 0 || l.Replicas > file.MaxReplicas {
		return fmt.Errorf("lock %s needs %d replicas: give 0 to %d", l.Name, l.Replicas, file.MaxReplicas)
	}
	if l.Replicas > 0 && l.Count(server.Redis.Name) == 0 {
		return fmt.Errorf("lock %s needs replicas of r0 and no Redis server: name one in its Servers, or leave Replicas out",
			l.Name)
	}
	if l.Messages < 0 || l.GrantTime < 0 {
		return fmt.Errorf("lock %s has a negative number of Messages, or GrantTime: leave out what it does not need", l.Name)
	}
	if l.Queue != nil && l.Keys == nil {
		return fmt.Errorf("lock %s has a Queue and no Keys: the order of its waiters is known only with both", l.Name)
	}
	if slices.Contains(l.Taken, nil) {
		return fmt.Errorf("lock %s has a nil error in Taken: leave it out", l.Name)
	}
	if err := l.validateLease(); err != nil {
		return fmt.Errorf("lock %s: %w", l.Name, err)
	}
	if err := l.Section.validate(); err != nil {
		return fmt.Errorf("lock %s: %w", l.Name, err)
	}
	if err := validatePromise(l.Promise); err != nil {
		return fmt.Errorf("lock %s: %w", l.Name, err)
	}
	return nil
}

// Missing says what has to be installed before the lock can be played, with a [*MissingError]; nil if nothing has.
func (l Lock) Missing() error {
	for _, s := range l.Servers {
		if s.Kind.Missing == nil {
			continue
		}
		if err := s.Kind.Missing(); err != nil {
			return &MissingError{l.Name, err}
		}
	}
	return nil
}

// MissingError is that of a lock whose servers cannot be made here. It is an [ErrUnknownLock], as that of a lock that
// the program does not have.
type MissingError struct {
	// Lock is the name of the lock.
	Lock string
	// Why says what has to be installed.
	Why error
}

// Error is "lock sql-table cannot be played here", and why.
func (e *MissingError) Error() string {
	return fmt.Sprintf("lock %s cannot be played here: %v", e.Lock, e.Why)
}

// Unwrap makes it an [ErrUnknownLock], and its reason.
func (e *MissingError) Unwrap() []error { return []error{ErrUnknownLock, e.Why} }

// ErrUnknownLock is returned when a program does not have a lock of a name.
var ErrUnknownLock = errors.New("there is no lock")

// SaysTaken reports whether an error of an Acquire says that the lock is taken.
func (l Lock) SaysTaken(err error) bool {
	return errors.Is(err, lock.ErrTaken) ||
		slices.ContainsFunc(l.Taken, func(taken error) bool { return errors.Is(err, taken) })
}
