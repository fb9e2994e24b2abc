package articles

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

// Recipe is a lock as an article prints it, or a storage that checks tokens: a row of the table.
type Recipe struct {
	// ID names it, and Idea says in a few words what it is.
	ID, Idea string
	// Says is what its text promises, in our words.
	Says string
	// Fails says that scenarios.Check is expected to find a violation, and Expect which one, or why there is none.
	// Both were written before the first run, and are not changed after it.
	Fails  bool
	Expect string
	// Kind is the catalogue id of what was found (F04), "" for a recipe that passes, and for one that the catalogue lacks.
	Kind string
	// Cause says in a sentence why it fails, or within what it passes, as read by hand in the stories of its runs.
	Cause string
	// Lock is the recipe with its text's promise as data. That of a storage is a [scenarios.Fence] under test, and a
	// recipe that is no lock has the promise alone.
	Lock scenarios.Lock
	// Try plays a recipe that is no lock, with a seed. It is nil for all others.
	Try func(seed uint64) Tried
}

// Recipes are the recipes, by their ids. The caller owns the slice.
func Recipes() []Recipe { //nolint:funlen // it is a table
	all := []Recipe{
		{
			ID:    "A1",
			Idea:  "SETNX, then EXPIRE",
			Says:  "One client has the lock at a time, and a crash frees it after the TTL.",
			Fails: true, Kind: "F01",
			Expect: "a client that crashes between the two requests, or whose EXPIRE is refused, leaves a key " +
				"without a TTL: the lock is stuck",
			Cause: "A client that crashes, or gets no answer, after its SETNX sends no EXPIRE: the key has no " +
				"TTL, and no client deletes it. The default client makes it worse: it sends the SETNX again, " +
				"and takes its own key for another's.",
			Lock: onRedis(func(p process, key string) mutex { return &setnxExpire{p.setNX(key)} }),
		},
		{
			ID:   "A2",
			Idea: "SET NX with a TTL; release by a script that compares; a new object for each section",
			Says: "One client has the lock at a time; a crash frees it after the TTL; no client deletes " +
				"another's lock.",
			Expect: "passes: counted from its request, the lease ends before the key does, and the release " +
				"compares and deletes at once",
			Cause: "The lease counts from before the request, so it ends before the key does; the value is " +
				"compared and deleted in one step, and no two grants have the same value.",
			Lock: onRedis(func(p process, key string) mutex { l := p.setNX(key); return &l }),
		},
		{
			ID:    "A2-reused",
			Idea:  "the same, with one object for all sections of a process",
			Says:  "As A2: the object can be locked again when it was unlocked.",
			Fails: true, Kind: "F30",
			Expect: "a release that was sent again, or is late, deletes the key of the next section of the same " +
				"object: claims overlap",
			Cause: "All grants of the object have one value. An Unlock that gets no answer in time is sent " +
				"again, and the late copy of it deletes the key of the next grant.",
			Lock: onRedis(once(func(p process, key string) mutex { l := p.setNX(key); return &l })),
		},
		{
			ID:    "A3",
			Idea:  "A2 with a goroutine that renews every third of the TTL, and does not look at the result",
			Says:  "The lock does not end while its holder works, however long that takes.",
			Fails: true, Kind: "F39",
			Expect: "a second Unlock, after one that failed, panics: the channel is closed twice; and a holder " +
				"that lost its key, by a pause, is never told",
			Cause: "A holder that has lost its key is never told, since the renewal does not look at its answer. " +
				"And Unlock closes the channel each time it is called: the second time, after one that " +
				"failed, it panics.",
			Lock: renewing(func(p process, key string) mutex { return &renewed{setNX: p.setNX(key)} }),
		},
		{
			ID:   "A4",
			Idea: "Redlock over five nodes, one after another, without a margin for drift",
			Says: "One client has the lock at a time while a majority of the nodes lives; clocks may run at " +
				"somewhat different rates.",
			Fails: true, Kind: "F23",
			Expect: "on nodes whose clocks run faster the keys end before the lease: claims overlap under " +
				"clock-drift. Under the other faults it passes: the lease counts from before the first " +
				"request. That one node without an answer keeps every client out is no violation of what is " +
				"judged here",
			Cause: "A node that does not answer holds up the client, which asks it first, for four times the " +
				"read timeout of its default client: that is longer than the TTL, so the lock is not " +
				"granted although four of five nodes answer. This was not expected: Check does ask whether " +
				"a majority is enough.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Servers: scenarios.Redis(5), Promise: quorum()}, New: redlocks(5)},
		},
		{
			ID:    "A5",
			Idea:  "the same over three nodes; nothing renews the lease",
			Says:  "As A4.",
			Fails: true, Kind: "F23",
			Expect: "as A4",
			Cause:  "As A4, with two of three nodes.",
			Lock:   scenarios.Lock{Traits: scenarios.Traits{Servers: scenarios.Redis(3), Promise: quorum()}, New: redlocks(3)},
		},
		{
			ID:   "A6",
			Idea: "ZooKeeper: an ephemeral node with a number; each client watches the one before it",
			Says: "One client has the lock at a time, by the order of the nodes; a crash frees it with the " +
				"session.",
			Fails: true, Kind: "F58",
			Expect: "a holder whose session has ended, by a pause or a partition, is not told, while the next " +
				"one enters: claims overlap. And a Create whose answer is lost, or a Delete that fails, " +
				"leaves a node that the living session keeps (F60): the lock is stuck",
			Cause: "A client whose session has ended while it waited does not find its own node: of an empty " +
				"list it takes the first, which panics, and where others are there it watches the parent, " +
				"which never changes.",
			Lock: clustered(zklocks.Kind(), 25*time.Second, zookeeperQueue),
		},
		{
			ID:   "A7",
			Idea: "etcd: a session and a mutex of package concurrency in one object",
			Says: "One client has the lock at a time; the session renews its lease; a crash frees it after " +
				"the TTL.",
			Fails: true, Kind: "F57",
			Expect: "a holder whose session has ended is not told, while the next one enters: claims overlap. " +
				"And an Unlock under a context that has ended leaves the key, which the session keeps alive " +
				"(F29): the lock is stuck",
			Cause: "The session ends when its renewal was late, and the lock does not look at its Done: the client goes " +
				"on in a lock that is another's, and takes it again with a session that ends a moment " +
				"later.",
			Lock: clustered(etcdlocks.Kind(), 15*time.Second, etcdSession),
		},
		{
			ID:    "A8-del",
			Idea:  "release by DEL",
			Says:  "One client has the lock at a time, and Unlock gives it back.",
			Fails: true, Kind: "F02",
			Expect: "a holder that is late deletes its successor's key, and reports success",
			Cause: "Unlock deletes the key, also that of another client: a holder whose lease has ended deletes its " +
				"successor's.",
			Lock: silent(func(p process, key string) mutex { return &unchecked{p.setNX(key)} }),
		},
		{
			ID:    "A8-get-del",
			Idea:  "release by GET, a comparison, and DEL",
			Says:  "As A2: no client deletes another's lock.",
			Fails: true, Kind: "F03",
			Expect: "the key ends, and is another's, between GET and DEL: its owner is robbed, and the release " +
				"reports success",
			Cause: "The key ends and is taken by the next client between GET and DEL, when the connection pool " +
				"is empty or a message is late.",
			Lock: onRedis(func(p process, key string) mutex { return &twoSteps{p.setNX(key)} }),
		},
		{
			ID:   "A9",
			Idea: "A2 with a watchdog that sends a bare EXPIRE every third of the TTL",
			Says: "The lock does not end while its holder works, and ends by itself when its process has " +
				"crashed.",
			Fails: true, Kind: "F04",
			Expect: "as A3: a second Unlock panics; and a holder that was paused renews its successor's key, " +
				"and is never told that it has lost its own",
			Cause: "As A3: the watchdog does not look at the answer of EXPIRE, and the second Unlock closes a closed channel. " +
				"A bare EXPIRE also renews the key of a successor.",
			Lock: renewing(func(p process, key string) mutex { return &watchdog{setNX: p.setNX(key)} }),
		},
		{
			ID:   "A10",
			Idea: "re-entrant, on a hash of owners and counts; free if the field of the caller is not there",
			Says: "One owner has the lock at a time, and may enter again; those who wait are told of a " +
				"release.",
			Fails: true, Kind: "",
			Expect: "it keeps no one out: the field of a second owner is not there, so it enters. Claims " +
				"overlap without a fault",
			Cause: "The first test is whether the caller is not in the hash, and that is so for each new " +
				"owner: it enters beside the others. The test that is meant is whether the hash is not " +
				"there at all.",
			Lock: onRedis(once(func(p process, key string) mutex { return &hash{p.setNX(key)} })),
		},
		{
			ID:   "A11",
			Idea: "re-entrant, with the owner and the count in two keys, each with a TTL of its own",
			Says: "One owner has the lock at a time, and it is free when this one has left as often as it has " +
				"entered.",
			Fails: true, Kind: "F03",
			Expect: "the count ends before the owner, whose TTL alone an inner entry renews: an inner Unlock " +
				"then frees the lock under the outer section; and a late Unlock, in three requests, deletes " +
				"a successor's keys (F03)",
			Cause: "Unlock reads the owner, counts down, and deletes, in three requests: when the key ends in " +
				"between, it deletes what the next owner has set.",
			Lock: onRedis(func(p process, key string) mutex { return &twoKeys{p.setNX(key)} }),
		},
		{
			ID:    "A12",
			Idea:  "the value has the end of the lease by the client's clock; GETSET takes what has ended",
			Says:  "One client has the lock at a time, and a crash frees it after the TTL.",
			Fails: true, Kind: "F22",
			Expect: "a client whose wall clock is ahead takes a lock that is held: claims overlap under " +
				"wall-clock. And without any trouble of a clock the GETSET of a loser puts its own value " +
				"over the winner's, whose Unlock then finds another's lock, and leaves it there",
			Cause: "Whether the lease has ended is judged by the clock of another machine than the one that " +
				"wrote it: where the holder's clock is behind, the next client takes the key at once.",
			Lock: onRedis(once(func(p process, key string) mutex { return &getSet{p.setNX(key)} })),
		},
		{
			ID:    "A13",
			Idea:  "A2 with a task that reads the key, compares it in the client, and sends PEXPIRE",
			Says:  "The lock does not end while its holder works.",
			Fails: true, Kind: "F39",
			Expect: "a holder that was paused or cut off for longer than the TTL is never told that it has lost " +
				"the lock: claims overlap. The two requests of the task do no harm that is judged: at worst " +
				"they make a successor's key live longer",
			Cause: "A renewal that failed, or found nothing, changes nothing for the holder: the key has " +
				"ended, and the work goes on without a word.",
			Lock: renewing(func(p process, key string) mutex { return &getPexpire{setNX: p.setNX(key)} }),
		},
		{
			ID:   "A14",
			Idea: "a fencing token by INCR, after SET NX PX; the lease counts from the answer",
			Says: "One client has the lock at a time; a later holder has a higher token; a store that " +
				"compares tokens refuses what is late.",
			Fails: true, Kind: "F38",
			Expect: "claims overlap without a fault: the key ends before a lease that counts from the answer. A " +
				"holder that pauses between SET and INCR also has a higher token than its successor (F07)",
			Cause: "The lease counts from the answer, and the TTL of the key from the request: for the time of " +
				"two round trips, INCR included, the key has ended and the lease has not.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Promise: tokens(), Tokens: true}, New: managed},
		},
		{
			ID:    "A14-incr",
			Idea:  "A14 with one flaw alone: if INCR fails, DEL of the key without a look at its owner",
			Says:  "As A14.",
			Fails: true, Kind: "F02",
			Expect: "claims overlap: an INCR without an answer is sent again, and fails after more time than the TTL. The " +
				"DEL that follows deletes the key of the next client, whose lease goes on",
			Cause: "An INCR that a stalled server does not answer fails after more time than the TTL. By then the key has " +
				"ended and is another client's, and the DEL deletes it. The scenario a14-incr has another way there: a " +
				"pause, and an INCR that is refused.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Promise: tokens(), Tokens: true}, New: mints},
		},
		{
			ID:   "A15",
			Idea: "a storage that checks tokens by a script, with one number for all keys",
			Says: "A write whose token is lower than the last one is refused: a client that has lost its lock " +
				"overwrites nothing of its successor.",
			Fails: true,
			Expect: "false-reject without a fault: two locks count their tokens apart, and the holder of the one " +
				"with the lower numbers is refused, though nobody has taken its lock. With one lock it is right, but for " +
				"what A15-keys expects",
			Cause: "The two locks begin at different numbers. A holder of the lock with the lower ones is refused as " +
				"soon as a write under the other lock was taken, and each time it asks anew. With one lock the scenario " +
				"a15-one-lock has no wrong answer.",
			Lock: storing("A15", "One script compares the token with one number for all keys, and writes",
				func(c *redis.Client) checked { return &storage{c, oneToken} }),
		},
		{
			ID:    "A15-keys",
			Idea:  "the same with a number for each key",
			Says:  "As A15.",
			Fails: true,
			Expect: "seldom: its client sends a write again that was not answered in time, and the first copy, with " +
				"an equal token, comes after a later write of the same holder, which is gone then",
			Cause: "The client sends a write again that was not answered in time. It is a copy that decides: the first " +
				"one has taken effect, another client has written since, and the answer to the second one is a refusal, so " +
				"that the caller takes for refused what was stored. This was not expected: an acknowledged write that is " +
				"gone was.",
			Lock: storing("A15-keys", "One script compares the token with a number of the key, and writes", eachKey),
		},
		{
			ID:   "A15-once",
			Idea: "A15-keys over a client that sends no command again",
			Says: "As A15.",
			Expect: "passes: the comparison and the write are one step, with a number for each key, and each write " +
				"arrives once",
			Cause: "The number of a key is compared and written together with the data, and a write without an answer " +
				"is not sent again: its caller knows that it does not know.",
			Lock: storingOnce("A15-once", "One script compares the token with a number of the key, and writes, sent once",
				eachKey),
		},
		{
			ID:    "A16",
			Idea:  "a storage that reads the token, compares it, writes the data, then the token",
			Says:  "As A15.",
			Fails: true,
			Expect: "corrupted without a fault: two writers interleave. One that is late has read the token before the " +
				"other one writes it, and its data is accepted after the other one's; its token then takes the place of the " +
				"higher one, so that later stale writes are accepted, too",
			Cause: "Between the GET of the token by a client that is late and its SET of the data, another client " +
				"writes with a higher token: both have found a token that lets them through.",
			Lock: storing("A16", "It reads the token, compares it, writes the data, then the token, by four requests",
				func(c *redis.Client) checked { return &stepwise{c} }),
		},
		{
			ID:    "A17",
			Idea:  "SQL: DELETE of what has ended by the client's clock, then INSERT under a unique name",
			Says:  "One client has the lock at a time, and a crash frees it after the TTL.",
			Fails: true, Kind: "F63",
			Expect: "a client whose clock is ahead deletes a row whose lease goes on, and enters: claims " +
				"overlap under wall-clock",
			Cause: "The end of the lease is written by one clock and compared by another: where the holder's " +
				"clock is behind, the next client deletes its row.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Servers: []scenarios.Servers{{Kind: database(), Count: 1}},
				Promise: unscripted()}, New: sqlRow},
		},
		{
			ID:   "A18",
			Idea: "SQL: SELECT … FOR UPDATE, with the data in the same transaction",
			Says: "The transactions of two clients follow one another; a crash frees the row, and undoes what " +
				"was not committed.",
			Expect: "passes: the row and the data share the fate of one transaction, so that no write of a " +
				"client that has lost the row takes effect. That such a client learns of it only from its " +
				"next statement is no violation: the text promises nothing outside of the database",
			Cause: "The row is locked as long as the transaction lives, and what it has written takes effect " +
				"only with its commit: a client that lost the row has lost its writes, too. A first pass froze " +
				"in the run of seed 1000248. It was the machine: a run counted as frozen after ten seconds without an event, " +
				"also while it waited for PostgreSQL, and it now has a minute for that. The same commit gives a verdict 12 " +
				"times of 12, and later passes have played that seed.",
			Lock: scenarios.Lock{
				Traits: scenarios.Traits{
					Servers: []scenarios.Servers{{Kind: database(), Count: 1}}, Data: sqllocks.Data(within),
					Lease: scenarios.LeaseHeld, Detection: time.Hour, Messages: 40,
					Promise: lock.Promise{
						Exclusion: []lock.Fault{
							lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultSlow,
							lock.FaultPool, lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultStall,
							lock.FaultWallClock, lock.FaultNodeCrash, lock.FaultNodePower,
						},
						Data: "none", FreeWithin: lock.TermAnyTime,
					},
				}, New: sqlForUpdate,
			},
		},
		{
			ID:   "A19",
			Idea: "SQL without a lock: a version in the row, UPDATE … WHERE version = ?, three tries with growing pauses",
			Says: "No change is lost: a write counts only if the row is as it was read, and gives up after three tries.",
			Expect: "passes: the comparison and the write are one statement, which says how many rows it has changed. A write " +
				"without an answer is not made again, so that none is made twice",
			Cause: "Each change that was confirmed is in the row once, and none that was given up: the UPDATE compares and " +
				"writes at once. Where many meet, the third try is the last, and the caller is told so.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{
				Servers: []scenarios.Servers{{Kind: database(), Count: 1}}, Promise: unlocked(),
			}},
			Try: func(seed uint64) Tried { return inRow().try(seed) },
		},
		{
			ID:    "A20",
			Idea:  "a cache in the process: a lock, and a second look into the process's own cache",
			Says:  "One client computes a value, and those who have waited for the lock find it.",
			Fails: true,
			Expect: "without a fault each process computes the value: the second look sees what this process has computed, " +
				"which is nothing. No data is lost, and the lock is as right as A2; it is the work that is done again",
			Cause: "Each process has a map of its own. Whoever has waited for the lock finds nothing there, and computes " +
				"again: the second look has to be at what all share, as that of lock.Fill.",
			Try: computed,
		},
		{
			ID:    "A21",
			Idea:  "16 segments: the name of the lock is id % 16",
			Says:  "All ids share 16 locks, and one client has the lock of an id at a time.",
			Fails: true,
			Expect: "a negative id has a negative remainder, so that there are 31 locks in place of 16, and an array of 16 " +
				"panics. Claims on one id do not overlap: it has one name. Where a program in a language that rounds down " +
				"takes part, such as Python, it has two",
			Cause: "The sign of a remainder is that of the id. Within one program no harm comes of it but the other number of " +
				"locks; lock.Stripe has segments from 0 to n-1 for every key, in every process.",
			Try: named,
		},
		{
			ID:   "A22",
			Idea: "A2, taken twice by one client in nested calls",
			Says: "One client has the lock at a time; a crash frees it after the TTL. Of a second entry it promises nothing.",
			Expect: "passes: the lock is A2, and is judged as that. The scenario a22 shows what the text warns of: the inner " +
				"call waits for its own client until the TTL has passed",
			Cause: "The lock is A2. The inner call asks for a key that its own client has, and the outer section goes on when " +
				"that has ended: without a lock.",
			Lock: onRedis(func(p process, key string) mutex { l := p.setNX(key); return &l }),
		},
		{
			ID:   "A23",
			Idea: "A2, with a context for the work of 8 of the lock's 10 seconds, made before the lock is asked for",
			Says: "The work has ended before the lock does; otherwise as A2.",
			Expect: "passes: the context begins before the key does, and ends two seconds before it. What is under way at its " +
				"end may still come late: behind a fence",
			Cause: "The context began before the request for the key, so it ends two seconds before the key. Behind a " +
				"fence, for a write that takes longer than these two seconds is late: the scenario a23-under-way.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Promise: leased()}, New: limited(false)},
		},
		{
			ID:    "A23-answer",
			Idea:  "the same with a context that is made when the lock has been granted",
			Says:  "As A23.",
			Fails: true, Kind: "F38",
			Expect: "the context begins with the answer, and the key with the request: where the answer takes longer than the " +
				"two seconds between them, claims overlap",
			Cause: "The context begins with the answer to the SET, which is up to the read timeout of the default client " +
				"later than the request: longer than the two seconds that the text leaves.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Promise: leased()}, New: limited(true)},
		},
		{
			ID:   "STM",
			Idea: "etcd without a lock: software transactional memory",
			Says: "No change is lost: a transaction whose values have changed since it read them is made again.",
			Expect: "passes: the commit compares the revisions of all that was read and writes in one transaction. A commit " +
				"without an answer is not made again",
			Cause: "The commit compares the revisions that were read, and a member without a majority answers none. Each " +
				"change that was confirmed is in the value once.",
			Lock: scenarios.Lock{Traits: scenarios.Traits{Promise: unlocked()}},
			Try:  func(seed uint64) Tried { return inMemory().try(seed) },
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
	return scenarios.Lock{Traits: scenarios.Traits{Promise: leased()}, New: locker(false, make)}
}

// silent is one whose Unlock does not say whether the key was its own.
func silent(make func(p process, key string) mutex) scenarios.Lock {
	return scenarios.Lock{Traits: scenarios.Traits{Promise: without(leased(), promise.DutyReports)},
		New: locker(false, make)}
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

// unlocked is the promise of a recipe without a lock, by the faults of its runs.
func unlocked() lock.Promise {
	return lock.Promise{Exclusion: []lock.Fault{
		lock.FaultPause, lock.FaultCrash, lock.FaultPartition, lock.FaultReset, lock.FaultStall, lock.FaultNodeCrash,
	}, Data: "none"}
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
	return scenarios.Lock{
		Traits: scenarios.Traits{
			Promise: leased(), Lease: scenarios.LeaseHeld, Detection: ttl/3 + time.Second,
		}, New: locker(true, make),
	}
}
