package articles

import (
	"slices"
	"time"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

// Recipe is a lock as an article prints it: a row of the table.
type Recipe struct {
	// ID names it, and Idea says in a few words what it is.
	ID, Idea string
	// Says is what its text promises, in our words.
	Says string
	// Fails says that scenarios.Check is expected to find a violation, and Expect which one, or why there is none.
	// Both were written before the first run, and are not changed after it.
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
			ID: "A1", Idea: "SETNX, then EXPIRE",
			Says:  "One client has the lock at a time, and a crash frees it after the TTL.",
			Fails: true, Kind: "F01",
			Expect: "a client that crashes between the two requests, or whose EXPIRE is refused, leaves a key without a TTL: the lock is stuck",
			Lock:   onRedis(func(p process, key string) mutex { return &setnxExpire{p.setNX(key)} }),
		},
		{
			ID: "A2", Idea: "SET NX with a TTL; release by a script that compares; a new object for each section",
			Says:   "One client has the lock at a time; a crash frees it after the TTL; no client deletes another's lock.",
			Expect: "passes: counted from its request, the lease ends before the key does, and the release compares and deletes at once",
			Lock:   onRedis(func(p process, key string) mutex { l := p.setNX(key); return &l }),
		},
		{
			ID: "A2-reused", Idea: "the same, with one object for all sections of a process",
			Says:  "As A2: the object can be locked again when it was unlocked.",
			Fails: true, Kind: "F30",
			Expect: "a release that was sent again, or is late, deletes the key of the next section of the same object: claims overlap",
			Lock:   onRedis(once(func(p process, key string) mutex { l := p.setNX(key); return &l })),
		},
		{
			ID: "A3", Idea: "A2 with a goroutine that renews every third of the TTL, and does not look at the result",
			Says:  "The lock does not end while its holder works, however long that takes.",
			Fails: true, Kind: "F39",
			Expect: "a second Unlock, after one that failed, panics: the channel is closed twice; and a holder that lost its key, by a pause, is never told",
			Lock:   renewing(func(p process, key string) mutex { return &renewed{setNX: p.setNX(key)} }),
		},
		{
			ID: "A4", Idea: "Redlock over five nodes, one after another, without a margin for drift",
			Says:  "One client has the lock at a time while a majority of the nodes lives; clocks may run at somewhat different rates.",
			Fails: true, Kind: "F20",
			Expect: "on nodes whose clocks run faster the keys end before the lease: claims overlap under clock-drift. Under the other faults it " +
				"passes: the lease counts from before the first request. That one node without an answer keeps every client out is no violation " +
				"of what is judged here",
			Lock: scenarios.Lock{Servers: scenarios.Redis(5), Promise: quorum(), New: redlocks(5)},
		},
		{
			ID: "A5", Idea: "the same over three nodes; nothing renews the lease",
			Says:  "As A4.",
			Fails: true, Kind: "F20",
			Expect: "as A4",
			Lock:   scenarios.Lock{Servers: scenarios.Redis(3), Promise: quorum(), New: redlocks(3)},
		},
		{
			ID: "A6", Idea: "ZooKeeper: an ephemeral node with a number; each client watches the one before it",
			Says:  "One client has the lock at a time, by the order of the nodes; a crash frees it with the session.",
			Fails: true, Kind: "F58",
			Expect: "a holder whose session has ended, by a pause or a partition, is not told, while the next one enters: claims overlap. And a Create " +
				"whose answer is lost, or a Delete that fails, leaves a node that the living session keeps (F60): the lock is stuck",
			Lock: clustered(zklocks.Kind(), 25*time.Second, zookeeperQueue),
		},
		{
			ID: "A7", Idea: "etcd: a session and a mutex of package concurrency in one object",
			Says:  "One client has the lock at a time; the session renews its lease; a crash frees it after the TTL.",
			Fails: true, Kind: "F57",
			Expect: "a holder whose session has ended is not told, while the next one enters: claims overlap. And an Unlock under a context that has " +
				"ended leaves the key, which the session keeps alive (F29): the lock is stuck",
			Lock: clustered(etcdlocks.Kind(), 15*time.Second, etcdSession),
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
			Lock:   onRedis(func(p process, key string) mutex { return &twoSteps{p.setNX(key)} }),
		},
		{
			ID: "A9", Idea: "A2 with a watchdog that sends a bare EXPIRE every third of the TTL",
			Says:  "The lock does not end while its holder works, and ends by itself when its process has crashed.",
			Fails: true, Kind: "F04",
			Expect: "as A3: a second Unlock panics; and a holder that was paused renews its successor's key, and is never told that it has lost its own",
			Lock:   renewing(func(p process, key string) mutex { return &watchdog{setNX: p.setNX(key)} }),
		},
		{
			ID: "A10", Idea: "re-entrant, on a hash of owners and counts; free if the field of the caller is not there",
			Says:  "One owner has the lock at a time, and may enter again; those who wait are told of a release.",
			Fails: true, Kind: "",
			Expect: "it keeps no one out: the field of a second owner is not there, so it enters. Claims overlap without a fault",
			Lock:   onRedis(once(func(p process, key string) mutex { return &hash{p.setNX(key)} })),
		},
		{
			ID: "A11", Idea: "re-entrant, with the owner and the count in two keys, each with a TTL of its own",
			Says:  "One owner has the lock at a time, and it is free when this one has left as often as it has entered.",
			Fails: true, Kind: "F33",
			Expect: "the count ends before the owner, whose TTL alone an inner entry renews: an inner Unlock then frees the lock under the outer " +
				"section; and a late Unlock, in three requests, deletes a successor's keys (F03)",
			Lock: onRedis(once(func(p process, key string) mutex { return &twoKeys{p.setNX(key)} })),
		},
		{
			ID: "A12", Idea: "the value has the end of the lease by the client's clock; GETSET takes what has ended",
			Says:  "One client has the lock at a time, and a crash frees it after the TTL.",
			Fails: true, Kind: "F22",
			Expect: "a client whose wall clock is ahead takes a lock that is held: claims overlap under wall-clock. And without any trouble of a clock " +
				"the GETSET of a loser puts its own value over the winner's, whose Unlock then finds another's lock, and leaves it there",
			Lock: onRedis(once(func(p process, key string) mutex { return &getSet{p.setNX(key)} })),
		},
		{
			ID: "A13", Idea: "A2 with a task that reads the key, compares it in the client, and sends PEXPIRE",
			Says:  "The lock does not end while its holder works.",
			Fails: true, Kind: "F39",
			Expect: "a holder that was paused or cut off for longer than the TTL is never told that it has lost the lock: claims overlap. The two " +
				"requests of the task do no harm that is judged: at worst they make a successor's key live longer",
			Lock: renewing(func(p process, key string) mutex { return &getPexpire{setNX: p.setNX(key)} }),
		},
		{
			ID: "A14", Idea: "a fencing token by INCR, after SET NX PX; the lease counts from the answer",
			Says:  "One client has the lock at a time; a later holder has a higher token; a store that compares tokens refuses what is late.",
			Fails: true, Kind: "F38",
			Expect: "claims overlap without a fault: the key ends before a lease that counts from the answer. A holder that pauses between SET and " +
				"INCR also has a higher token than its successor (F07)",
			Lock: scenarios.Lock{Promise: tokens(), Tokens: true, New: managed},
		},
		{
			ID: "A17", Idea: "SQL: DELETE of what has ended by the client's clock, then INSERT under a unique name",
			Says:  "One client has the lock at a time, and a crash frees it after the TTL.",
			Fails: true, Kind: "F63",
			Expect: "a client whose clock is ahead deletes a row whose lease goes on, and enters: claims overlap under wall-clock",
			Lock:   scenarios.Lock{Servers: []scenarios.Servers{{Kind: database(), Count: 1}}, Promise: unscripted(), New: sqlRow},
		},
		{
			ID: "A18", Idea: "SQL: SELECT … FOR UPDATE, with the data in the same transaction",
			Says: "The transactions of two clients follow one another; a crash frees the row, and undoes what was not committed.",
			Expect: "passes: the row and the data share the fate of one transaction, so that no write of a client that has lost the row takes effect. " +
				"That such a client learns of it only from its next statement is no violation: the text promises nothing outside of the database",
			Lock: scenarios.Lock{
				Servers: []scenarios.Servers{{Kind: database(), Count: 1}}, Lease: scenarios.LeaseHeld, Detection: time.Hour, Data: sqllocks.Data(within),
				New: sqlForUpdate, Messages: 40,
				Promise: lock.Promise{
					Exclusion: []lock.Fault{
						lock.FaultPause, lock.FaultCrash, lock.FaultRestart, lock.FaultSlow, lock.FaultPool, lock.FaultPartition, lock.FaultLatency,
						lock.FaultReset, lock.FaultStall, lock.FaultWallClock, lock.FaultNodeCrash,
					},
					Data: "none", FreeWithin: lock.TermAnyTime,
				},
			},
		},
	}
	for i := range all {
		all[i].Lock.Name = all[i].ID
	}
	return all
}

// leased is the promise to start from for a lock with a lease. It lives with a key that a request without an answer
// has left, which keeps its own client out until it ends: no text says that it does not.
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

// onRedis is a lock whose leases last for a TTL.
func onRedis(make func(p process, key string) mutex) scenarios.Lock {
	return scenarios.Lock{Promise: leased(), New: locker(false, make)}
}

// quorum is the promise of a Redlock, whose Unlock has no result.
func quorum() lock.Promise {
	p := without(leased(), promise.DutyReports)
	p.Exclusion = append(p.Exclusion, promise.ClockDrift)
	return p
}

// unscripted is the promise of a lock on a server without scripts.
func unscripted() lock.Promise {
	p := leased()
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f lock.Fault) bool { return f == promise.Scripts })
	return p
}

// tokens is the promise of a lock with tokens: its data is right behind a fence that compares them.
func tokens() lock.Promise {
	p := leased()
	p.Data = "seal"
	return p
}

// renewing is a lock that is held until it is released. It is renewed every third of the TTL, and a holder can know
// then that the key has gone.
func renewing(make func(p process, key string) mutex) scenarios.Lock {
	return scenarios.Lock{Promise: leased(), Lease: scenarios.LeaseHeld, Detection: ttl/3 + time.Second, New: locker(true, make)}
}
