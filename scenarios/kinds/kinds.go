// Package kinds lists the locks that come with locksim, as data: how many servers
// each needs, whether its leases carry fencing tokens, how it works. Package
// [locksim/scenarios/play] makes the locks.
//
// There are two sorts: the kinds of package [locksim/lock], and the specimens of
// package [locksim/lock/broken], which are wrong on purpose and whose names begin
// with "broken/".
package kinds

import (
	"fmt"
	"slices"
	"strings"

	"locksim/lock/broken/mistake"
	"locksim/lock/promise"
	clusterfacts "locksim/scenarios/clusterlocks/facts"
	etcdfacts "locksim/scenarios/etcdlocks/facts"
	"locksim/scenarios/kinds/server"
	mysqlfacts "locksim/scenarios/mysqllocks/facts"
	sentinelfacts "locksim/scenarios/sentinellocks/facts"
	sqlfacts "locksim/scenarios/sqllocks/facts"
	zkfacts "locksim/scenarios/zklocks/facts"
)

// Kind is a lock that comes with locksim.
type Kind struct {
	// Name is the name in scenario files and commands, such as "single" or
	// "broken/get-then-del".
	Name string
	// Redis is the number of Redis servers it needs, 1 at least.
	Redis int
	// Tokens says that its leases carry fencing tokens.
	Tokens bool
	// Promise is what it is judged by. A specimen promises nothing.
	Promise promise.Promise
	// About says in a sentence or two how it works.
	About string
	// ForWhom says in a sentence for what the lock is suitable.
	ForWhom string
}

// RedlockNodes is the number of servers of a Redlock.
const RedlockNodes = 5

// BrokenPrefix begins the names of specimens.
const BrokenPrefix = "broken/"

// kinds are the locks of package lock. Their promises are those of promise.Of.
var kinds = []Kind{
	{
		Name: "single", Redis: 1,
		About: "A key on one Redis node, set with NX and a TTL, holds the id of its owner, and a script deletes it only " +
			"while that id is still there. A holder that stays silent loses the lock when the TTL is over, whether it knows " +
			"or not.",
		ForWhom: "Work that may be done twice now and then.",
	},
	{
		Name: "fenced", Redis: 1, Tokens: true,
		About: "A key on one Redis node, set with NX and a TTL, holds the id of its owner, and the script that grants it " +
			"counts a fencing token up in the same step. Every grant carries a higher token than the one before, so that a " +
			"store that checks it can refuse a holder whose lease is over.",
		ForWhom: "Data that must stay right, in a store that compares tokens.",
	},
	{
		Name: "watchdog", Redis: 1,
		About: "A key on one Redis node with a TTL holds the id of its owner, and a watchdog in the owner’s process " +
			"extends it while it is held, and notifies the holder when that fails. The work may take longer than the TTL, for " +
			"as long as the process lives.",
		ForWhom: "Work of unknown length that may be done twice now and then.",
	},
	{
		Name: "watchdog-fenced", Redis: 1, Tokens: true,
		About: "A key on one Redis node with a TTL holds the id of its owner, a watchdog in the owner’s process extends it " +
			"while it is held, and every grant carries a higher fencing token than the one before. The work may take longer " +
			"than the TTL, and the token stays the same for as long as the grant does.",
		ForWhom: "Work of unknown length on data that must stay right, in a store that compares tokens.",
	},
	{
		Name: "reentrant", Redis: 1,
		About: "A hash on one Redis node with a TTL counts the entries of its owner, who is named and may enter again. " +
			"The lock is free when each entry was released, or when the TTL is over.",
		ForWhom: "Code that may be called with the lock held; the work may be done twice now and then.",
	},
	{
		Name: "reentrant-fenced", Redis: 1, Tokens: true,
		About: "A hash on one Redis node with a TTL counts the entries of its owner, who is named and may enter again, and " +
			"every grant carries a higher fencing token than the one before. An entry into a lock that the owner holds " +
			"already keeps the token.",
		ForWhom: "Code that may be called with the lock held, on data that must stay right, in a store that compares tokens.",
	},
	{
		Name: "fair", Redis: 1,
		About: "Beside the key, a queue on the same Redis node decides who is next, in the order in which clients asked. " +
			"A waiter that does not ask again in time counts as crashed and is passed over.",
		ForWhom: "Many clients that wait for one lock, where none may starve and the work may be done twice now and then.",
	},
	{
		Name: "fair-fenced", Redis: 1, Tokens: true,
		About: "Beside the key, a queue on the same Redis node decides who is next, in the order in which clients asked, " +
			"and every grant carries a higher fencing token than the one before. A waiter that does not ask again in time " +
			"counts as crashed and is passed over.",
		ForWhom: "Many clients that wait for one lock, where none may starve, on data that must stay right, in a store " +
			"that compares tokens.",
	},
	{
		Name: "redlock", Redis: RedlockNodes,
		About: "The same key is set on a majority of five independent Redis nodes, within a time that leaves part of the " +
			"TTL. No single node can stop all clients, and the lock mints no token.",
		ForWhom: "Work that may be done twice now and then, and must go on when a Redis server fails.",
	},
	{
		Name: "redlock-watchdog", Redis: RedlockNodes,
		About: "The same key is set on a majority of five independent Redis nodes, and a watchdog in the owner’s process " +
			"extends it on a majority while it is held. The holder is notified when a majority no longer agrees.",
		ForWhom: "Work of unknown length that may be done twice now and then, and must go on when a Redis server fails.",
	},
	{
		Name: "redlock-fenced", Redis: RedlockNodes, Tokens: true,
		About: "The same key is set on a majority of five independent Redis nodes, and a grant carries a token one above " +
			"the highest counter of a majority, which it writes back to a majority. It is an experiment: nothing is promised " +
			"about the order of these tokens.",
		ForWhom: "Experiments with tokens from a quorum. Nothing is promised about their order, so data must not rest " +
			"on them.",
	},
}

// Names are the names of the kinds of package lock, in the order in which tables
// show them. The caller owns the slice.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// Specimens are the names of the locks that are wrong on purpose, sorted:
// broken/del-without-owner and others. The caller owns the slice.
func Specimens() []string {
	var names []string
	for _, s := range mistake.All() {
		names = append(names, BrokenPrefix+s.Name)
	}
	slices.Sort(names)
	return names
}

// Find is the kind or the specimen of that name. The error lists the specimens if
// the name begins like one, else the kinds.
func Find(name string) (Kind, error) {
	if short, ok := strings.CutPrefix(name, BrokenPrefix); ok {
		s, err := mistake.Find(short)
		if err != nil {
			return Kind{}, fmt.Errorf("there is no specimen %q: there are %s", name, strings.Join(Specimens(), ", "))
		}
		return Kind{Name: name, Redis: max(s.Nodes, 1), Tokens: s.Tokens,
			About: "A lock that is wrong on purpose (" + s.ID + "): " + s.Wrong, ForWhom: "Tests: it is wrong on purpose."}, nil
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, fmt.Errorf("there is no lock kind %q: there are %s", name, strings.Join(Names(), ", "))
	}
	k := kinds[i]
	k.Promise, _ = promise.Of(name)
	return k, nil
}

// RedisOf is the number of Redis servers that the kind or the specimen of that name needs, 1 at least; ok is false if
// there is none. Each run asks for it several times.
func RedisOf(name string) (n int, ok bool) {
	if short, ok := strings.CutPrefix(name, BrokenPrefix); ok {
		s, err := mistake.Find(short)
		return max(s.Nodes, 1), err == nil
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return 0, false
	}
	return kinds[i].Redis, true
}

// servers are the kinds of servers that come with locksim, besides Redis, with the locks that run on them.
var servers = []server.Kind{
	clusterfacts.Server,
	etcdfacts.Server,
	sentinelfacts.Server,
	sqlfacts.Server,
	mysqlfacts.Server,
	zkfacts.Server,
}

// unlocked are the kinds without a lock on Redis, which a program has if it names their package.
var unlocked = server.Kind{Facts: server.Redis, Package: "locksim/scenarios/redislocks",
	Locks: []server.Lock{{Name: "redis-cas"}}}

// Servers are the kinds of servers that come with locksim, besides Redis. A file may name them in every program; to
// play it takes a lock that has them. The caller owns the slice, and changes nothing in it.
func Servers() []server.Kind { return slices.Clone(servers) }

// elsewhere is a lock that comes with locksim in a package of its own, which few programs import.
func elsewhere(name string) (l server.Lock, path string, ok bool) {
	for _, s := range append(Servers(), unlocked) {
		for _, l := range s.Locks {
			if l.Name == name {
				return l, s.Package, true
			}
		}
	}
	return server.Lock{}, "", false
}

// Package is the import path of the package that has a lock of that name. ok is false for those of [Names] and
// [Specimens], and for names that locksim does not know.
func Package(name string) (path string, ok bool) {
	_, path, ok = elsewhere(name)
	return path, ok
}

// Reserved reports whether a name is one of [Names], or begins with [BrokenPrefix].
func Reserved(name string) bool {
	return slices.Contains(Names(), name) || strings.HasPrefix(name, BrokenPrefix)
}

// RunsIn reports whether a lock can run in a fencing mode that needs tokens or not.
// A lock that does not come with locksim is assumed to run in all.
func RunsIn(name string, needsToken bool) bool {
	if l, _, ok := elsewhere(name); ok {
		return l.Tokens || !needsToken
	}
	k, err := Find(name)
	return err != nil || k.Tokens || !needsToken
}
