package articles

import (
	"slices"
	"time"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
)

// Recipe is a lock as an article prints it: a row of the table.
type Recipe struct {
	// ID names it, and Idea says in a few words what it is.
	ID, Idea string
	// Says is what its text promises, in our words.
	Says string
	// Fails says that scenarios.Check is expected to find a violation, and Expect which one, or why there is none. Both were written
	// before the first run, and are not changed after it.
	Fails  bool
	Expect string
	// Kind is the catalogue id of such failures (F04), "" for a recipe that passes.
	Kind string
	// Cause says in a sentence why it fails, or within what it passes, as read by hand in the stories of its runs.
	Cause string
	// Lock is the recipe with its text's promise as data.
	Lock scenarios.Lock
}

// Recipes are the recipes, by their ids. The caller owns the slice.
func Recipes() []Recipe {
	all := []Recipe{
		{
			ID: "A2", Idea: "SET NX with a TTL; release by a script that compares; a new object for each section",
			Says:   "One client has the lock at a time; a crash frees it after the TTL; no client deletes another's lock.",
			Expect: "passes: counted from its request, the lease ends before the key does, and the release compares and deletes at once",
			Lock:   scenarios.Lock{Promise: leased(), New: locker(false, func(p process, key string) mutex { l := p.setNX(key); return &l })},
		},
		{
			ID: "A2-reused", Idea: "the same, with one object for all sections of a process",
			Says:  "As A2: the object can be locked again when it was unlocked.",
			Fails: true, Kind: "F30",
			Expect: "a release that was sent again, or is late, deletes the key of the next section of the same object: claims overlap",
			Lock:   scenarios.Lock{Promise: leased(), New: locker(false, func(p process, key string) mutex { return p.same(key) })},
		},
		{
			ID: "A3", Idea: "A2 with a goroutine that renews every third of the TTL, and does not look at the result",
			Says:  "The lock does not end while its holder works, however long that takes.",
			Fails: true, Kind: "F39",
			Expect: "a second Unlock, after one that failed, panics: the channel is closed twice; and a holder that lost its key, by a pause, is never told",
			Lock:   renewing(func(p process, key string) mutex { return &renewed{setNX: p.setNX(key)} }),
		},
		{
			ID: "A8-del", Idea: "release by DEL",
			Says:  "One client has the lock at a time, and Unlock gives it back.",
			Fails: true, Kind: "F02",
			Expect: "a holder that is late deletes its successor's key, and reports success",
			Lock: scenarios.Lock{Promise: without(leased(), promise.DutyReports), New: locker(false, func(p process, key string) mutex {
				return &unchecked{p.setNX(key)}
			})},
		},
		{
			ID: "A8-get-del", Idea: "release by GET, a comparison, and DEL",
			Says:  "As A2: no client deletes another's lock.",
			Fails: true, Kind: "F03",
			Expect: "the key ends, and is another's, between GET and DEL: its owner is robbed, and the release reports success",
			Lock:   scenarios.Lock{Promise: leased(), New: locker(false, func(p process, key string) mutex { return &twoSteps{p.setNX(key)} })},
		},
	}
	for i := range all {
		all[i].Lock.Name = all[i].ID
	}
	return all
}

// leased is the promise to start from for a lock with a lease. It lives with a key that a request without an answer has left, which
// keeps its own client out until it ends: no text says that it does not.
func leased() lock.Promise {
	p := lock.LeasePromise()
	p.SelfExcludes, p.ResendExcludes = true, true
	return p
}

// without is a promise without some duties, which the text does not speak of.
func without(p lock.Promise, duties ...promise.Duty) lock.Promise {
	p.Duties = slices.DeleteFunc(p.Duties, func(d promise.Duty) bool { return slices.Contains(duties, d) })
	return p
}

// renewing is a lock that is held until it is released. It is renewed every third of the TTL, and a holder can know then that the
// key has gone.
func renewing(make func(p process, key string) mutex) scenarios.Lock {
	return scenarios.Lock{Promise: leased(), Lease: scenarios.LeaseHeld, Detection: ttl/3 + time.Second, New: locker(true, make)}
}
