package groundtruth

import (
	"slices"

	"locksim/lock"
	"locksim/scenarios"
)

// Bug is a published bug of an unmodified library: a row of the table.
type Bug struct {
	// ID names it: the library, and the number of its issue or what is wrong.
	ID string
	// Adapter is the folder with the program that has the library's lock.
	Adapter string
	// Source is the address of the issue, pull request or change log. Mechanism says in a sentence what is wrong.
	Source, Mechanism string
	// Kind is the catalogue id of such failures (F30), "" for one that the catalogue lacks.
	Kind string
	// Module has the bug in version Has and not in HasNot, which is "" while it is open.
	Module, Has, HasNot string
	// Quote is the promise of the library's documentation, Where its place.
	Quote, Where string
	// Promise is that promise as data. Check judges the lock by it.
	Promise lock.Promise
	// Helped finds the bug where Check at its defaults does not; nil if nothing does, or is needed.
	Helped *Help
	// Missed is why Check at its defaults does not find it; "" if it does.
	Missed string
	// Also is what else the runs showed, as read by hand: why a fixed version fails, or what a failure is.
	Also string
	// Overlay says that the program needs the build overlay: the library dials or reads clocks by itself.
	Overlay bool
	// With are replacements, in the words of a go.mod, of other modules that this version needs.
	With []string
}

// Help is the smallest change that finds a bug which the defaults miss.
type Help struct {
	// What says it in words.
	What string
	// Promise replaces that of the bug.
	Promise lock.Promise
	// Options replace the defaults of Check, but for the seed and the folder.
	Options scenarios.Options
}

// Find is the bug or the recipe with an id.
func Find(id string) (b Bug, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(b Bug) bool { return b.ID == id })
	if i < 0 {
		return Bug{}, false
	}
	return all[i], true
}

// Bugs are the rows, by library. The caller owns the slice.
func Bugs() []Bug {
	const redsync = "github.com/go-redsync/redsync/v4"
	return []Bug{
		{
			ID: "redsync-61", Adapter: "redsync", Module: redsync, Has: "v4.0.3", HasNot: "v4.0.4",
			Source:    "https://github.com/go-redsync/redsync/pull/61",
			Mechanism: "Extend and Unlock compare the answer of their script, an int64, with the constant 0, which is an int: a lock that has been lost is extended and released with success.",
			Kind:      "F38",
			Quote:     "Extend resets the mutex's expiry and returns the status of expiry extension.", Where: "doc comment of Mutex.Extend",
			Promise: lease(),
		},
		{
			ID: "redsync-151", Adapter: "redsync", Module: redsync, Has: "v4.12.0", HasNot: "v4.12.1",
			Source:    "https://github.com/go-redsync/redsync/issues/151",
			Mechanism: "An Extend that gets an error from one node deletes the keys of its lock on all nodes, while its holder may still have a majority and goes on.",
			Kind:      "F30",
			Quote:     "After this is successful, no one else can obtain the same lock (the same mutex name) until we unlock it.", Where: "README, Usage",
			Promise: lease(),
		},
	}
}

// lease is the promise to start from for a lock with a lease. It is without the faults of a pool, since the world does not see that
// of redigo, or of a client that a library makes; and it lives with a key that a request without an answer has left, which keeps
// its own client out until it ends: no library says that it does not.
func lease() lock.Promise {
	p := lock.LeasePromise()
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f lock.Fault) bool { return f == lock.FaultPool })
	p.SelfExcludes, p.ResendExcludes = true, true
	return p
}
