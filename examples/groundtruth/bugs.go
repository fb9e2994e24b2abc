package groundtruth

import (
	"slices"
	"time"

	"locksim/internal/findings"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/file"
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
	// Expected is the label by which the version with the bug was expected to fail, while the other one passes: written,
	// and committed, before the first run. It is "" in rows that are older than this field.
	Expected string
	// Missed is why Check at its defaults does not find it; "" if it does.
	Missed string
	// Otherwise is why a run that fails shows another thing than the bug itself; "" if it shows the bug. Such a run is no
	// find.
	Otherwise string
	// Frozen is why some runs have no verdict; "" if each must have one.
	Frozen string
	// Also is what else the runs showed, as read by hand: why a fixed version fails, or what a failure is.
	Also string
	// Overlay says that the program needs the build overlay: the library dials or reads clocks by itself.
	Overlay bool
	// With are replacements, in the words of a go.mod, of other modules that this version needs. VERSION in one of them is
	// that of Module.
	With []string
	// NotWith are those of HasNot, where it needs others; nil for the same.
	NotWith []string
	// Apart says that no go.mod requires the module, so that its requirements raise nothing elsewhere: the program, which
	// no pattern matches, is built by the name of its file with a go.mod that does.
	Apart bool
	// Over are the files of the module that are built, for a module that does not link any more: over what the folder over
	// of the adapter has in place of its other packages. With [Whole] the module is built as it is, and what the folder
	// _over of the adapter has is added, for a lock that a module keeps to itself. The module is Apart.
	Over []string
	// NotAdapter and NotModule are those of HasNot, for a lock that has moved to another module; "" for the same.
	NotAdapter, NotModule string
}

// Finding is what its thread is, and how it stands. A bug without one is a mistake of this package.
func (b Bug) Finding() findings.Finding {
	f, ok := findings.Find(b.ID)
	if !ok {
		panic("package findings has no " + b.ID)
	}
	return f
}

// Whole stands for all files of a module in the field Over of a [Bug].
var Whole = []string{"."}

// At is the bug as its version is built and played: with the adapter and the module of that version.
func (b Bug) At(version string) Bug {
	if b.NotModule != "" && version == b.HasNot {
		b.Adapter, b.Module, b.Apart, b.Over = b.NotAdapter, b.NotModule, false, nil
	}
	if b.NotWith != nil && version == b.HasNot {
		b.With = b.NotWith
	}
	return b
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
			ID: "redsync-38", Adapter: "redsync1", Module: "github.com/go-redsync/redsync", Has: "v1.2.0", HasNot: "v1.3.0",
			Source: "https://github.com/go-redsync/redsync/pull/38",
			Mechanism: "Extend and Unlock compare the answer of their script, an int64, with the constant 0, which is an int: " +
				"they are true for a lock that has been lost.",
			Kind: "F38",
			Quote: "Unlock unlocks m and returns the status of unlock. Extend resets the mutex's expiry and returns the " +
				"status of expiry extension.", Where: "doc comments of Mutex",
			Promise: lease(),
		},
		{
			ID: "redsync-61", Adapter: "redsync", Module: redsync, Has: "v4.0.3", HasNot: "v4.0.4",
			Source: "https://github.com/go-redsync/redsync/pull/61",
			Mechanism: "Extend and Unlock compare the answer of their script, an int64, with the constant 0, which is an int: " +
				"a lock that has been lost is extended and released with success.",
			Kind:    "F38",
			Quote:   "Extend resets the mutex's expiry and returns the status of expiry extension.",
			Where:   "doc comment of Mutex.Extend",
			Promise: lease(),
		},
		{
			ID: "redsync-151", Adapter: "redsync", Module: redsync, Has: "v4.12.0", HasNot: "v4.12.1",
			Source: "https://github.com/go-redsync/redsync/issues/151",
			Mechanism: "An Extend that gets an error from one node deletes the keys of its lock on all nodes, while its " +
				"holder may still have a majority and goes on.",
			Kind: "F30",
			Quote: "After this is successful, no one else can obtain the same lock (the same mutex name) until we " +
				"unlock it.", Where: "README, Usage",
			Promise: lease(),
		},
		{
			ID: "redsync-71", Adapter: "redsync", Module: redsync, Has: "v4.3.0", HasNot: "v4.4.1",
			Source: "https://github.com/go-redsync/redsync/pull/71",
			Mechanism: "Extend does not look at the time that has passed, and nothing tells when a lease ends: who counts a " +
				"TTL from the answer has the lock too long, since the nodes count from the request.",
			Kind:    "F23",
			Quote:   "Extend resets the mutex's expiry and returns the status of expiry extension.",
			Where:   "doc comment of Mutex.Extend",
			Promise: lease(),
			Otherwise: "The library of that version does not tell when a lease ends. It is the adapter that counts a TTL from " +
				"the answer, as a user would have to: the overlap is of that count.",
		},
		{
			ID: "redsync-68", Adapter: "redsync", Module: redsync, Has: "v4.4.1", HasNot: "v4.4.4",
			Source: "https://github.com/go-redsync/redsync/pull/68",
			Mechanism: "LockContext sleeps between two tries without a look at its context: it returns after the pause, long " +
				"after the context has ended.",
			Quote: "This change is mostly just for making sure the LockContext() call isn't stuck in a blocking " +
				"time.Sleep() when it should really be cancelled early.", Where: "the pull request",
			Promise: returning(), Expected: "misconduct",
			Also: "The version without it fails by Extend, which the client of its user keeps waiting for a second: so does " +
				"the one with it from the third seed. Its user has a pause of 5 s between two tries: with the 50 to 250 ms of " +
				"the defaults nobody would notice. The first run judged too how soon a lock is had that is free, by which both " +
				"versions failed.",
		},
		{
			ID: "redsync-timeout", Adapter: "redsync", Module: redsync, Has: "v4.4.4", HasNot: "v4.5.0",
			Source: "https://github.com/go-redsync/redsync/pull/80",
			Mechanism: "Lock asks its nodes without a limit of time: one node that does not answer keeps it waiting, although " +
				"the others are a majority.",
			Kind: "F23",
			Quote: "as described in this post (redis.io/topics/distlock): the client uses a timeout which is small " +
				"compared to the total lock auto-release time", Where: "README, and the post that it names",
			Promise: lease(),
			Also: "Its client has no limit of time, and its user gives a release and a renewal a second: without that both " +
				"versions fail, by redsync-140.",
		},
		{
			ID: "redsync-140", Adapter: "redsync", Module: redsync, Has: "v4.18.1",
			Source: "https://github.com/go-redsync/redsync/issues/140",
			Mechanism: "Unlock and Extend wait for all nodes, without a limit of time: one that does not answer keeps a " +
				"release waiting, although a majority has been asked.",
			Kind:  "F49",
			Quote: "Release the lock so other processes or threads can obtain a lock.", Where: "README, Usage",
			Promise: lease(),
			Missed: "Its documentation promises no time for a release: a call that returns late is a violation only of a " +
				"lock that promises that its calls return. Until there was that rule it was found as a lock that could not be " +
				"taken again, which it can.",
			Helped: &Help{What: "the promise that a release returns within a TTL, also if no server answers",
				Promise: answering()},
		},
		{
			ID: "redsync-late", Adapter: "redsync", Module: redsync, Has: "v4.18.1",
			Source: "https://github.com/go-redsync/redsync/blob/v4.18.1/mutex.go",
			Mechanism: "All tries of a Lock have the same value, so the clean-up of a try that failed, late on a connection " +
				"that was given up, deletes the keys of the next one.",
			Kind: "F28",
			Quote: "After this is successful, no one else can obtain the same lock (the same mutex name) until we " +
				"unlock it.", Where: "README, Usage",
			Promise: lease(),
		},
		{
			ID: "redsync-156", Adapter: "redsync", Module: redsync, Has: "v4.12.1", HasNot: "v4.13.0",
			Source: "https://github.com/go-redsync/redsync/pull/156",
			Mechanism: "TryLock counts its one try by the tries of Lock: where the lock is taken it never says so, but has " +
				"the error that stands for anything.",
			Quote:   "ErrTaken is the error resulting if the lock is already taken in a quorum of nodes",
			Where:   "doc comment of ErrTaken",
			Promise: lease(),
		},
		{
			ID: "redsync-164", Adapter: "redsync", Module: redsync, Has: "v4.18.1",
			Source: "https://github.com/go-redsync/redsync/issues/164",
			Mechanism: "A Lock whose context ends while it waits has the same error as one that has used up its tries: its " +
				"caller cannot tell which.",
			Quote: "LockContext locks m. In case it returns an error on failure, you may retry to acquire the lock by " +
				"calling this method again.", Where: "doc comment of Mutex.LockContext; that an error tells of the end of a " +
				"context is what the issue asks for",
			Promise: dutiful(promise.DutyExplains),
		},
		{
			ID: "redislock-71", Adapter: "redislock", Module: "github.com/bsm/redislock", Has: "v0.9.3", HasNot: "v0.9.4",
			Source: "https://github.com/bsm/redislock/pull/71",
			Mechanism: "A lock with a token of its user cannot be obtained again with that token: a request whose reply was " +
				"lost keeps its own client out until the TTL.",
			Kind: "F27",
			Quote: "Token is a unique value that is used to identify the lock. Use this option to provide a custom token " +
				"instead.", Where: "doc comment of Options.Token",
			Promise: knowsItself(),
			Otherwise: "Its failures are of the token that two locks of one client share, as are those of the version without " +
				"this bug: redislock-token.",
			Also: "It was expected to be missed, since a key that a request without an answer has left is excused where " +
				"its client could not clean up.",
		},
		{
			ID: "redislock-token", Adapter: "redislock", Module: "github.com/bsm/redislock", Has: "v0.10.0",
			Source: "https://github.com/bsm/redislock/blob/v0.10.0/redislock.go",
			Mechanism: "Locks with the same token of their user have the same value on the server: a release that arrives " +
				"late, or is called again, deletes the key of the next one. Found as what the version without redislock-71 fails " +
				"on. It is outside what the documentation asks of a token, which is that it is unique.",
			Kind: "F28",
			Quote: "Token is a unique value that is used to identify the lock. Use this option to provide a custom token " +
				"instead.", Where: "doc comment of Options.Token",
			Promise: knowsItself(),
		},
		{
			ID: "redislock-58", Adapter: "redislock", Module: "github.com/bsm/redislock", Has: "v0.9.0", HasNot: "v0.9.1",
			Source: "https://github.com/bsm/redislock/pull/58",
			Mechanism: "The ticker of an exponential backoff is not reset, so a waiter asks at the pace of its first pause " +
				"for ever.",
			Kind:    "F55",
			Quote:   "ExponentialBackoff strategy is an optimization strategy with a retry time of 2**n milliseconds.",
			Where:   "doc comment of ExponentialBackoff",
			Promise: sparing(),
			Also: "It was missed until a lock with a backoff of its own could say it (Lock.Pause): load was judged of " +
				"locks alone that follow the backoff of the scenario.",
		},
		{
			ID: "redislock-64", Adapter: "redislock", Module: "github.com/bsm/redislock", Has: "v0.9.1", HasNot: "v0.9.2",
			Source: "https://github.com/bsm/redislock/pull/64",
			Mechanism: "An Obtain whose context ends while it waits says that the lock was not obtained, and nothing of the " +
				"context.",
			Quote:   "I think your change is correct, what we had before seems like a bug/oversight.",
			Where:   "the maintainer, in the pull request; the documentation says nothing",
			Promise: dutiful(promise.DutyExplains),
		},
		{
			ID: "redislock-79", Adapter: "redislock", Module: "github.com/bsm/redislock", Has: "v0.9.4", HasNot: "v0.10.0",
			Source: "https://github.com/bsm/redislock/issues/79",
			Mechanism: "An Obtain whose context ends while it waits has the error of the context alone: who compares it with " +
				"ErrNotObtained, as the example does, takes a lock that is taken for a failure.",
			Quote: "if err == redislock.ErrNotObtained { fmt.Println(\"Could not obtain lock!\") } else if err != nil { " +
				"log.Fatalln(err) }", Where: "example of Obtain with a deadline",
			Promise: dutiful(promise.DutyExplains),
			Missed: "The judge asks that the error of a wait that was cut short wraps that of its context. That it also " +
				"wraps one of the library is no promise that a lock can make.",
		},
		{
			ID: "rueidislock-clock", Adapter: "rueidislock", Module: "github.com/redis/rueidis", Has: "v1.0.79", Overlay: true,
			Source: "https://github.com/redis/rueidis/blob/v1.0.79/rueidislock/lock.go",
			Mechanism: "The end of a key is sent as an instant of the holder's wall clock: where that is behind, the key ends " +
				"at once, and another client enters.",
			Kind: "F22",
			Quote: "The returned ctx will be canceled automatically and immediately once the KeyMajority is not held " +
				"anymore.", Where: "README of rueidislock",
			Promise: held(lock.FaultWallClock),
			Also: "Found in the other direction too: where the clock of the server is behind that of its client, the key " +
				"of a holder that was paused outlives its TTL by the difference.",
		},
		{
			ID: "rueidislock-923", Adapter: "rueidislock", Module: "github.com/redis/rueidis", Has: "v1.0.69", HasNot: "v1.0.70",
			Overlay: true,
			Source:  "https://github.com/redis/rueidis/issues/923",
			Mechanism: "Each renewal moves the end of the key by its interval from the last end, and not from now: renewals " +
				"that are late leave it in the past, where they delete the key, and the holder goes on.",
			Kind: "F37",
			Quote: "The Locker will extend the ctx validity periodically and also watch for canceling the ctx if the " +
				"KeyMajority is not held anymore.", Where: "README of rueidislock, How it works",
			Promise: renewing(),
			Missed: "Each renewal is late by a round trip, and moves the end of the key by no more than its interval: the " +
				"key ends too early after hundreds of renewals, and a pause of the holder can make it no later than it may be. A " +
				"section that is drawn lasts for four leases at most. One of half an hour shows it without a fault: `go run " +
				"./cmd rueidislock-923 run rueidislock/long-section.yaml`, and with -fixed it is safe.",
			Also: "Both versions fail otherwise, by rueidislock-clock: where the clock of the server is ahead, the key " +
				"ends before its TTL, and no renewal finds it.",
		},
		{
			ID: "rueidislock-301", Adapter: "rueidislock", Module: "github.com/redis/rueidis", Has: "v1.0.11", HasNot: "v1.0.12",
			Overlay: true,
			Source:  "https://github.com/redis/rueidis/pull/301",
			Mechanism: "A TryWithContext shares the gate of an earlier one that is not over, without being counted: the count " +
				"goes wrong, and a later cancel function waits for ever.",
			Quote: "TryWithContext tries to acquire a distributed redis lock by name without waiting. It may return " +
				"ErrNotLocked.", Where: "doc comment of Locker.TryWithContext; \"invoke cancel() to release the lock\", README",
			Promise: held(),
			Missed: "It is seen, and has no verdict: the goroutine that waits for ever has a mutex of the library, and " +
				"virtual time stands still while others wait for a mutex. The run without faults ends as frozen, and names both " +
				"places in the library; it should count as a client that waits for ever.",
			Also: "The fixed version fails by rueidislock-clock: the clock of the server is behind, and the instant that a " +
				"renewal sends lets the key live for longer.",
		},
		{
			ID: "pglock-40", Adapter: "pglock", Module: "cirello.io/pglock", Has: "v1.12.0", HasNot: "v1.13.0",
			Source: "https://github.com/cirello-io/pglock/issues/40",
			Mechanism: "A heartbeat that fails for want of a connection marks the lock as released, although its row is still " +
				"there: each later one is refused, and the lease ends.",
			Kind:    "F35",
			Quote:   "SendHeartbeat refreshes the mutex entry so to avoid other clients from grabbing it.",
			Where:   "doc comment of Client.SendHeartbeat",
			Promise: inTable(),
			Missed: "Who is told too early that the lock is lost stops, and does no harm: an Extend that refuses without " +
				"need is no violation, and the rows of PostgreSQL are not learnt, by which it could be known.",
			Also:   "Both versions fail otherwise, by pglock-power.",
			Frozen: frozenTransaction,
		},
		{
			ID: "pglock-power", Adapter: "pglock", Module: "cirello.io/pglock", Has: "v1.13.0",
			Source: "https://github.com/cirello-io/pglock/blob/v1.13.0/client.go",
			Mechanism: "Each try is a transaction that locks the row. A client that loses power within it leaves the row " +
				"locked for as long as the server takes the connection for alive, two hours by the usual keep-alive: no client " +
				"has the lock, and none gets it, whatever the lease. Found as what the version without pglock-40 fails on.",
			Quote: "DefaultLeaseDuration is the recommended period of time that a lock can be considered valid before " +
				"being stolen by another client.", Where: "doc comment of DefaultLeaseDuration",
			Promise: inTable(),
			Frozen:  frozenTransaction,
			Also: "A keep-alive of some seconds on the server, or its idle_in_transaction_session_timeout, ends the " +
				"transaction.",
		},
		{
			ID: "etcd-22123", Adapter: "etcd", Module: "go.etcd.io/etcd/client/v3", Has: "v3.7.3",
			Source: "https://github.com/etcd-io/etcd/issues/22123",
			Mechanism: "A Resign that fails forgets the key of the leader, so one that is called again succeeds, and the key " +
				"stays as long as the session.",
			Kind:  "F29",
			Quote: "Resign lets a leader start a new election.", Where: "doc comment of Election.Resign",
			Promise: steady(),
			Also: "Found by its tokens: the next Campaign of the session finds the key that was left, and has its revision " +
				"again. That Resign is a success also after the end of the session is not judged: the documentation does not say " +
				"otherwise.",
		},
		{
			ID: "etcd-19597", Adapter: "etcd", Module: "go.etcd.io/etcd/client/v3", Has: "v3.7.3",
			Source:    "https://github.com/etcd-io/etcd/issues/19597",
			Mechanism: "A Lock whose session ends while it waits goes on waiting until all keys before its own are gone.",
			Kind:      "F56",
			Quote: "Lock locks the mutex with a cancelable context. If the context is canceled while trying to acquire " +
				"the lock, the mutex tries to clean its stale lock entry.", Where: "doc comment of Mutex.Lock",
			Promise: session(),
			Missed: "No client is harmed while another one has the lock, and the documentation promises no time: a wait that " +
				"could have ended earlier is no violation.",
			Also: "It fails otherwise, by etcd-void.",
		},
		{
			ID: "etcd-11007", Adapter: "etcd", Module: "go.etcd.io/etcd/client/v3", Has: "v3.7.3",
			Source: "https://github.com/etcd-io/etcd/issues/11007",
			Mechanism: "Campaign waits for the keys before its own, and does not look whether its own is still there: a " +
				"candidate whose session has ended meanwhile is told that it is elected.",
			Kind: "F56",
			Quote: "Multiple sessions can participate in the election for the same prefix, but only one can be the leader " +
				"at a time.", Where: "doc comment of Election.Campaign",
			Promise: unordered(),
		},
		{
			ID: "etcd-21128", Adapter: "etcd", Module: "go.etcd.io/etcd/client/v3", Has: "v3.7.3",
			Source: "https://github.com/etcd-io/etcd/issues/21128",
			Mechanism: "A Campaign that fails for another reason than its context, such as a compaction, leaves its key, " +
				"which the session keeps before those of all others.",
			Kind: "F54",
			Quote: "the Campaign will continue to be blocked for other keys to be deleted, unless server returns a " +
				"non-recoverable error (e.g. ErrCompacted)", Where: "doc comment of Election.Campaign",
			Promise: left(),
			Otherwise: "No history is compacted here. What is found is another way to the same: the context of the first " +
				"request ends, and the key that it has made stays as well.",
			Also: "It was expected to be missed.",
		},
		{
			ID: "etcd-11456", Adapter: "etcd34", Module: "go.etcd.io/etcd", Has: "v0.5.0-alpha.5.0.20200910180754-dd1b699fc489",
			HasNot:     "v3.7.3",
			NotAdapter: "etcd", NotModule: "go.etcd.io/etcd/client/v3", Apart: true,
			Over: []string{"clientv3/concurrency/mutex.go", "clientv3/concurrency/key.go",
				"clientv3/concurrency/session.go"},
			Source: "https://github.com/etcd-io/etcd/issues/11456",
			Mechanism: "Lock waits for the keys before its own, and does not look whether its own is still there: a client " +
				"whose session has ended meanwhile has the lock without a key, beside the next one.",
			Kind: "F56",
			Quote: "Lock locks the mutex with a cancelable context. If the context is canceled while trying to acquire " +
				"the lock, the mutex tries to clean its stale lock entry.", Where: "doc comment of Mutex.Lock",
			Promise: session(),
			Also: "It was expected to be missed, since its session tells the holder of the loss in the instant of the " +
				"grant. But a lease that the lock knows to be lost when it grants it is judged too. The version without this bug " +
				"fails by etcd-void, which is another one: its key is still there.",
		},
		{
			ID: "etcd-void", Adapter: "etcd", Module: "go.etcd.io/etcd/client/v3", Has: "v3.7.3",
			Source: "https://github.com/etcd-io/etcd/blob/client/v3.7.3/client/v3/concurrency/mutex.go",
			Mechanism: "Lock looks whether the server still has its key, and not whether its session has ended: a client that " +
				"heard nothing for the TTL, and has closed its session for that, is granted the lock with it. Found as what the " +
				"version without etcd-11456 fails on.",
			Kind:  "F56",
			Quote: "make sure the session is not expired, and the owner key still exists.", Where: "comment in Mutex.Lock",
			Promise: session(),
		},
		{
			ID: "etcd-16221", Adapter: "etcd", Module: "go.etcd.io/etcd/client/v3", Has: "v3.7.3",
			Source: "https://github.com/etcd-io/etcd/issues/16221",
			Mechanism: "The Lock of the recipe RWMutex waits for the keys before its own, and does not look whether its own " +
				"is still there.",
			Kind:  "F56",
			Quote: "what we expect: m2 shouldn't lock success", Where: "the issue, in short; the recipe has no " +
				"documentation",
			Promise: tokenless(),
			Also:    "It was expected to be missed, as etcd-11456 was.",
		},
		{
			ID: "zk-229", Adapter: "zk", Module: "github.com/go-zookeeper/zk", Has: "v1.0.4",
			Source: "https://github.com/samuel/go-zookeeper/issues/229",
			Mechanism: "A Lock whose connection is lost after it has made its node returns an error, and leaves the node: the " +
				"session keeps it, and the next Lock of that client waits behind it for ever.",
			Kind: "F60",
			Quote: "Lock attempts to acquire the lock. It works like LockWithData, but it doesn't write any data to the " +
				"lock node.", Where: "doc comment of Lock.Lock",
			Promise: session(),
			Missed: "Its documentation promises no time: the lock may be taken for as long as a session lives, and a node " +
				"that was left is one of a session that lives.",
			Helped: &Help{What: "the promise that the lock is free within a session's time after it was left",
				Promise: freed()},
		},
		{
			ID: "libkv-156", Adapter: "libkv", Module: "github.com/docker/libkv", Has: "v0.2.1", Overlay: true,
			Source: "https://github.com/docker/libkv/pull/156",
			Mechanism: "The channel that tells of the loss of a lock on ZooKeeper is never closed: a holder whose session has " +
				"ended goes on beside the next one.",
			Kind:    "F39",
			Quote:   "It returns a channel that is closed if our lock is lost or if an error occurs",
			Where:   "doc comment of Lock",
			Promise: tokenless(),
			With: []string{"github.com/samuel/go-zookeeper => github.com/samuel/go-zookeeper " +
				"v0.0.0-20201211165307-7117e9ea2414"},
		},
		{
			ID: "migrate-296", Adapter: "migrate", Module: "github.com/mattes/migrate", Has: "v3.0.1+incompatible",
			Source: "https://github.com/mattes/migrate/issues/296",
			Mechanism: "The advisory lock belongs to a connection, and is given back by any connection of the pool: by " +
				"another one it is not, and Unlock does not look at the answer.",
			Kind: "F66",
			Quote: "Lock should acquire a database lock so that only one migration process can run at a time. Unlock " +
				"should release the lock.", Where: "doc comments of Driver",
			Promise: pooled(),
			Also:    "The repository has been left; its successor, golang-migrate, keeps one connection for both.",
		},
		{
			ID: "bun-crash", Adapter: "bun", Module: "github.com/uptrace/bun", Has: "v1.3.0", Apart: true,
			Source: "https://github.com/superseriousbusiness/gotosocial/issues/930",
			Mechanism: "The lock is a row that Lock inserts and Unlock deletes, without an end and without an owner: a " +
				"process that dies in between leaves it, and no other one migrates again until somebody deletes the row by hand.",
			Kind:    "F01",
			Quote:   "Lock acquires an advisory lock on the migration table to prevent concurrent migrations.",
			Where:   "doc comment of Migrator.Lock",
			Promise: leaving(), Expected: "stuck",
			With: []string{"github.com/uptrace/bun/dialect/pgdialect => github.com/uptrace/bun/dialect/pgdialect VERSION"},
			Also: "The issue is of GoToSocial, which uses this lock. An advisory lock of PostgreSQL, of which the doc comment " +
				"speaks, would end with its connection.",
		},
		{
			ID: "gozero-1704", Adapter: "gozero", Module: "github.com/zeromicro/go-zero", Has: "v1.3.1", HasNot: "v1.3.2",
			Apart:  true,
			Source: "https://github.com/zeromicro/go-zero/pull/1704",
			Mechanism: "Acquire counts how often its object has the lock, and asks the server the first time only: one that " +
				"was not released, since its lease had ended, is had again at once.",
			Kind:  "F03",
			Quote: "Acquire acquires the lock. SetExpire sets the expiration.", Where: "doc comments of RedisLock",
			Promise: unreported(),
			Also: "Its user keeps one object for each name, and does not release a lock whose lease has ended by its own " +
				"clock: so it is judged without the duty that a release reports. The first run judged that too, and had both " +
				"violations. The version without it fails by gozero-late.",
		},
		{
			ID: "gozero-late", Adapter: "gozero", Module: "github.com/zeromicro/go-zero", Has: "v1.3.2", Apart: true,
			Source: "https://github.com/zeromicro/go-zero/blob/v1.3.2/core/stores/redis/redislock.go",
			Mechanism: "The value of a key is drawn once for each lock object: a release that arrives late deletes the key " +
				"that the same object has set since. Found as what the version without gozero-1704 fails on.",
			Kind:  "F28",
			Quote: "Acquire acquires the lock. Release releases the lock.", Where: "doc comments of RedisLock",
			Promise: unreported(),
		},
		{
			ID: "gocron-799", Adapter: "gocron", Module: "github.com/go-co-op/gocron-redis-lock/v2", Has: "v2.0.1", Apart: true,
			Source: "https://github.com/go-co-op/gocron/issues/799",
			Mechanism: "Nothing renews the lock of a job, and it ends after 8 s: a job that takes longer runs on two " +
				"instances at once.",
			Kind:  "F02",
			Quote: "The lock is held for the duration of the job's run", Where: "doc comment of gocron.Locker",
			Promise: held(),
			With:    []string{"github.com/go-co-op/gocron/v2 => github.com/go-co-op/gocron/v2 v2.16.1"},
		},
		{
			ID: "gocron-841", Adapter: "gocron", Module: "github.com/go-co-op/gocron/v2", Has: "v2.16.1", Apart: true,
			Source: "https://github.com/go-co-op/gocron/issues/841",
			Mechanism: "A short job whose instances start it at different times is run by each of them, one after another. " +
				"From v2.16.2 on the documentation says so.",
			Quote: "A locker can be used to lock each run of a job to a single instance of gocron.",
			Where: "README of gocron",
			Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultLatency}, SelfExcludes: true,
				ResendExcludes: true},
			Missed: "Holders one after another break no lock. A judge would have to know which grants are of one run of a " +
				"job, and how often it was done.",
			Also: "Its lock ends after an hour. A job that takes longer fails it otherwise, by gocron-799; with less it is " +
				"not found within the time.",
			With: []string{"github.com/go-co-op/gocron-redis-lock/v2 => github.com/go-co-op/gocron-redis-lock/v2 v2.0.1"},
		},
		{
			ID: "kube-124588", Adapter: "kube", Module: "k8s.io/client-go", Has: "v0.30.0", HasNot: "v0.31.0", Apart: true,
			Source: "https://github.com/kubernetes/kubernetes/issues/124588",
			Mechanism: "The release of a LeaderElector has no limit of time: where the API servers do not answer, Run does " +
				"not return when its context ends, and OnStoppedLeading is not called.",
			Kind: "F38",
			Quote: "Run will not return before leader election loop is stopped by ctx or it has stopped holding the " +
				"leader lease", Where: "doc comment of LeaderElector.Run",
			Promise: stopped(),
			With: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20240228011516-70dd3763d340",
				"github.com/google/gnostic-models => github.com/google/gnostic-models v0.6.8",
			},
			Also: "Its holder has the lease until it is told, so that what a cut off leader does is not judged: see " +
				"kube-partition in examples/leases for that.",
		},
		{
			ID: "kube-successor-released", Adapter: "kube", Module: "k8s.io/client-go", Has: "v0.34.0", HasNot: "v0.33.5",
			Apart:  true,
			Source: "https://github.com/kubernetes/client-go/blob/v0.34.0/tools/leaderelection/leaderelection.go",
			Mechanism: "Since v0.34.0 a release reads the record for its newest version, and does not look who is in it: a " +
				"leader that has lost the lease empties the record of its successor, and a third one leads beside that. Before, " +
				"the release met a conflict and did nothing. It is so in v0.37.2 too.",
			Kind:    "F03",
			Quote:   "release attempts to release the leader lease if we have acquired it.",
			Where:   "doc comment of LeaderElector.release",
			Promise: successor(),
			Missed: "It takes three clients, of which one is cut off, or paused, for a second or two more than a lease, and " +
				"its successor goes on until its own RenewDeadline, in which the judge lets a holder learn of a loss; a fence " +
				"keeps the data right. 3,000 schedules with partitions alone and three or four clients do not find it either.",
			Also: "A partition of 16.5 s between the first of three clients and the API servers, with a lease of 15 s and " +
				"a hold of 8 s, loses a write without a fence in 7 of 20 seeds with v0.34.0, and in none with v0.33.5: see " +
				"kube-successor-released in examples/leases for the same with a pause.",
			With: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20250710124328-f3f2b991d03b",
			},
			NotWith: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20250318190949-c8a335a9a2ff",
				"github.com/google/gnostic-models => github.com/google/gnostic-models v0.6.9",
			},
		},
		{
			ID: "river-197", Adapter: "river", Module: "github.com/riverqueue/river", Has: "v0.0.18", HasNot: "v0.0.20",
			Apart: true, Over: Whole,
			Source: "https://github.com/riverqueue/river/issues/197",
			Mechanism: "The condition under which a leader is elected again compares its id with itself: a client whose row " +
				"has ended, and was followed by that of another one, is told that it still leads, and so are both from then on.",
			Kind:    "F68",
			Quote:   "that non leader would have been tricked into thinking it was still the leader",
			Where:   "pull request 199, which mends it; the elector is internal, and has no documentation",
			Promise: led(), Expected: "overlap",
			Also: "The elector is the one of River, built from the whole module with a file that runs it as the client of " +
				"River does, but for its notifier, as where a pooler knows no LISTEN: who waits asks every 5 s. The version " +
				"without this bug still has river-217: its leader is told of the loss, which is judged there.",
		},
		{
			ID: "river-217", Adapter: "river", Module: "github.com/riverqueue/river", Has: "v0.0.20", HasNot: "v0.0.22",
			Apart: true, Over: Whole,
			Source: "https://github.com/riverqueue/river/pull/217",
			Mechanism: "The row of a leader ends after the same 5 s after which its timer asks again, so that it has ended " +
				"whenever the renewal arrives: a client that asks in between takes the lead from a leader that nothing has kept " +
				"from renewing. Mended for renewals by #217, and for the first election by #219.",
			Kind: "F37",
			Quote: "These timers and queries are of course not instantaneous, which means a perfectly functional leader " +
				"can fail to re-elect itself cleanly.", Where: "the pull request",
			Missed: "Some 1,500 to 1,800 schedules in 60 s of CPU time do not show it: a renewal has to be late by the time " +
				"between the end of the row and that of the timer.",
			Promise: leading(), Expected: "misconduct",
			Also: "As river-197 is built.",
		},
		{
			ID: "river-1213", Adapter: "river34", Module: "github.com/riverqueue/river", Has: "v0.34.0", HasNot: "v0.35.0",
			Apart: true, Over: Whole, Overlay: true,
			Source: "https://github.com/riverqueue/river/pull/1213",
			Mechanism: "A leader whose renewals fail goes on until the fifth error, each after 5 s and up to 5 s more, while " +
				"its row ends after 15 s: it leads beside the next one. Since v0.35.0 it trusts a renewal for no longer than " +
				"that lasts, counted from when it was asked for.",
			Kind: "F38",
			Quote: "that window is now anchored to the attempt that produced it rather than to when a response happened " +
				"to arrive", Where: "the pull request; \"If it cannot renew a term in time, it steps down conservatively instead " +
				"of continuing to act as leader on stale information\", documentation of the package since v0.36.0",
			Missed: "Some 700 schedules in 20 s of CPU time do not show it: five renewals have to fail, which takes 25 s at " +
				"least, and few schedules cut a leader off for so long.",
			Promise: cutOff(), Expected: "overlap",
			Also: "As river-197 is built, in the mode that polls. It has one election for each schema, so each name has a " +
				"schema.",
		},
		{
			ID: "kube-80954", Adapter: "kube", Module: "k8s.io/client-go", Has: "v0.19.0", HasNot: "v0.37.2", Apart: true,
			Source: "https://github.com/kubernetes/kubernetes/pull/80954",
			Mechanism: "The release of a LeaderElector writes a Lease whose duration is 0 seconds, which the API server " +
				"refuses: nothing is ever given back, and each successor waits until the lease runs out.",
			Kind: "F48",
			Quote: "Failed to release lock: Lease.coordination.k8s.io \"example\" is invalid: spec.leaseDurationSeconds: " +
				"Invalid value: 0: must be greater than 0", Where: "the pull request; \"ReleaseOnCancel should be set true if " +
				"the lock should be released when the run context is cancelled.\", doc comment of LeaderElectionConfig",
			Promise: releasing(), Expected: "misconduct",
			Also: "The version without it fails where each message is late by seconds: a leader gives the lead up at its " +
				"RenewDeadline, and its release says that it is not held. The versions between have kube-131867, so the one " +
				"without is the newest.",
			With: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"github.com/googleapis/gnostic => github.com/googleapis/gnostic v0.4.1",
			},
			NotWith: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad",
			},
		},
		{
			ID: "kube-131867", Adapter: "kube", Module: "k8s.io/client-go", Has: "v0.33.5", HasNot: "v0.37.2", Apart: true,
			Source: "https://github.com/kubernetes/kubernetes/issues/131867",
			Mechanism: "The release of a LeaderElector writes with the version of the record that its last renewal returned. " +
				"Where the context ends while a renewal is under way, which the server takes and the client does not hear of, " +
				"the release meets a conflict, and is not tried again: the lease stays until it runs out.",
			Kind:  "F60",
			Quote: "Leadership election should retry lock release on conflict",
			Where: "the issue; \"ReleaseOnCancel should be set true if the lock should be released when the run context is " +
				"cancelled.\", doc comment of LeaderElectionConfig",
			Promise: releasing(), Expected: "misconduct",
			Also: "The version without it fails as that of kube-80954 does. " +
				"Since v0.34.0 a release reads the record first, which is kube-137988 where a renewal is still on its way.",
			With: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20250318190949-c8a335a9a2ff",
				"github.com/google/gnostic-models => github.com/google/gnostic-models v0.6.9",
			},
			NotWith: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad",
			},
		},
		{
			ID: "kube-137988", Adapter: "kube", Module: "k8s.io/client-go", Has: "v0.34.0", HasNot: "v0.37.2", Apart: true,
			Source: "https://github.com/kubernetes/kubernetes/pull/137988",
			Mechanism: "A release reads the record and writes it. Where a renewal that was cancelled arrives between the two, " +
				"the release meets a conflict, and is not tried again: the lease stays until it runs out.",
			Kind:  "F60",
			Quote: "a conflict error can occur if context cancellation races with an inflight renew() operation",
			Where: "the pull request; \"ReleaseOnCancel should be set true if the lock should be released when the run " +
				"context is cancelled.\", doc comment of LeaderElectionConfig",
			Otherwise: "The version without it fails from the same seeds, by the same schedules: where each message is late " +
				"by seconds, a leader gives the lead up at its RenewDeadline, and its release says that it is not held.",
			Promise: releasing(), Expected: "misconduct",
			With: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20250710124328-f3f2b991d03b",
			},
			NotWith: []string{
				"locksim/examples/leases => ../leases", "k8s.io/api => k8s.io/api VERSION",
				"k8s.io/apimachinery => k8s.io/apimachinery VERSION",
				"k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad",
			},
		},
		{
			ID: "consul-18271", Adapter: "consul", Module: "github.com/hashicorp/consul/api", Has: "v1.33.0", Apart: true,
			Source: "https://github.com/hashicorp/consul/issues/18271",
			Mechanism: "The monitor of a Lock waits for the answer to a blocking query without a limit, and a renewal that " +
				"failed is not reported: a holder that is cut off is not told while its successor enters. Issue 8736 is the same.",
			Kind:  "F36",
			Quote: "Returns a channel that is closed if our lock is lost or an error.", Where: "doc comment of Lock.Lock",
			Promise: toldOfLoss(),
			With:    []string{"locksim/examples/leases => ../leases"},
			Also:    "The servers are modelled after Consul's documentation, and were not compared with a real server.",
		},
		{
			ID: "consul-4935", Adapter: "consul", Module: "github.com/hashicorp/consul/api", Has: "v1.33.0", Apart: true,
			Source: "https://github.com/hashicorp/consul/pull/4935",
			Mechanism: "Where the monitor of a Lock meets an error, it closes the channel, and the session is renewed all the " +
				"same: the key is never free, unless the holder also calls Unlock on a lock that it was told to have lost.",
			Kind:  "F62",
			Quote: "Returns a channel that is closed if our lock is lost or an error.", Where: "doc comment of Lock.Lock",
			Promise: abandoned(), Expected: "stuck",
			With: []string{"locksim/examples/leases => ../leases"},
			Missed: "A lock of Consul is free again 45 s after its session was lost, so that no lease which is drawn bounds " +
				"how long it may be taken.",
			Helped: &Help{What: "leases of 60 s, within which it has to be free, and a server's crash alone",
				Promise: within(lock.TermTTLAndCluster),
				Options: scenarios.Options{
					Faults: []lock.Fault{lock.FaultNodeCrash},
					Space:  scenarios.Space{TTL: file.Range{Min: time.Minute, Max: time.Minute}},
				}},
			Also: "The pull request was closed for a sentence in the documentation, which issue 5686 still asks for: Unlock " +
				"must be called. The servers are modelled after Consul's documentation, and were not compared with a real server.",
		},
		{
			ID: "blnk-354", Adapter: "inhouse", Has: "before", HasNot: "after",
			Source: "https://github.com/blnkfinance/blnk/issues/354",
			Mechanism: "The release of the lock of a balance runs under the context of the request: where that was cancelled, " +
				"the key stays until its TTL, five minutes by default.",
			Kind:  "F29",
			Quote: "Releasing a lock should not depend on the liveness of the request that took it.", Where: "the issue",
			Promise: lease(), Expected: "misconduct",
		},
		{
			ID: "ncps-913", Adapter: "inhouse", Has: "before", HasNot: "after",
			Source: "https://github.com/kalbasit/ncps/pull/913",
			Mechanism: "The release of the lock of a download runs under the context of the request: where that was " +
				"cancelled, the key stays until its TTL, and nobody is told.",
			Kind:  "F29",
			Quote: "If the request was canceled mid-flight, the locks were left locked until the TTL expired",
			Where: "the pull request",
			Missed: "Some 1,200 to 1,500 schedules in 20 s of CPU time do not show it: a key that ends by itself after its " +
				"TTL is no harm by what is promised here.",
			Promise: unreported(), Expected: "stuck",
			Also: "It is judged without the duty that a release reports, since a release that fails is told to nobody there, " +
				"before and after.",
		},
	}
}

// frozenTransaction is why some runs on a database freeze.
const frozenTransaction = "database/sql ends a transaction whose context is over with a mutex that another call has " +
	"while it reads from the network, and virtual time stands still for a mutex."

// Obstacles say what an adapter had to overcome, by its folder.
var Obstacles = map[string]string{
	"redsync": "Its oldest versions tell neither the end of a lease nor an error type for a lock that is taken, and " +
		"join the errors of their nodes in the order in which goroutines end. Its pool of go-redis v9 begins with v4.8, so " +
		"redigo is used, and go-redis v8 where a request has no limit.",
	"redsync1": "Its calls have no context and no errors: false may mean that the lock was lost, or that there was " +
		"no answer.",
	"redislock": "It waits for one TTL under a context without a deadline. Its oldest version has no Token.",
	"zk":        "None: locksim comes with this lock.",
	"libkv": "It dials by itself, with a client of ZooKeeper that has another name: it needs the build overlay. " +
		"Its Lock ends with no context.",
	"migrate": "Its clients would create the table at the same time, so the server has it.",
	"rueidislock": "It dials in its constructor, reads wall clocks and draws from math/rand/v2: it needs the build " +
		"overlay, with which all is compiled anew. Its lease lives in the context of its Acquire. Old versions seed what " +
		"they draw with the time, and keep it: the variable for that is replaced.",
	"pglock": "It asks once in a TTL, and does not tell when. Its clients would create the table at the same time, " +
		"so the server has it. The checksum database does not know it: versions.sum has the checksum.",
	"etcd": "None: locksim comes with these locks, but for that of a recipe, whose calls have no context.",
	"etcd34": "Its client needs an old gRPC, and locksim's servers a new one: three of its files are built over " +
		"the present client.",
	"gozero": "Its clients are in a variable of a package, one for each address: each process of the world puts " +
		"its own there. Its calls have no context, and what it draws random numbers from is a variable too.",
	"consul": "None: locksim comes with its servers.",
	"kube":   "None: locksim comes with its API servers. Its own modules have to be of one version.",
	"river": "Its elector is internal: the module is built as a whole, with a file that runs it. Its notifier is " +
		"not run.",
	"river34": "As river. It draws from math/rand/v2: it needs the build overlay. It has one election for each " +
		"schema.",
	"inhouse": "They are in no module: they are written anew, in the form with the bug and in the mended one.",
	"gocron":  "It asks the server in its constructor, does not tell when its lock ends, and has one error for all.",
}

// Unplayed are published bugs that no adapter plays yet, with what is missing.
var Unplayed = []struct{ Source, What, Why string }{
	{"https://github.com/redis/rueidis/pull/374", "rueidislock: its loops do not end after a FLUSHALL that client-side " +
		"caching tells of", "The Redis of the world has no client-side caching."},
	{"https://github.com/RichardKnop/machinery/issues/780", "machinery v1.10.6: a key that ends between GET and GETSET " +
		"makes a Lock fail that could have been had",
		"Its module requires those of three clouds and of a database, which all adapters would build with: it needs a " +
			"module of its own. Its lock is never given back."},
	{"https://github.com/cirello-io/pglock/issues/36", "pglock: a heartbeat that is cancelled marks the lock as " +
		"released, and the release that follows leaves the row", "No adapter yet: it needs the heartbeats of the library, " +
		"and its Do."},
	{"https://github.com/openbao/openbao/issues/2097", "openbao: the holder of a row that was removed inserts it again, " +
		"and goes on", "No fault removes rows of PostgreSQL."},
}

// toldOfLoss is the promise of a lock that is held until its holder is told of its loss, and that may stay taken. A
// holder that is paused, or whose server is, is not told in time; nothing is promised then.
func toldOfLoss() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultReset, lock.FaultPartition},
		Data:      "seal", FreeWithin: lock.TermAnyTime,
		FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime},
	}
}

// abandoned is that of one which somebody else can have once its holder was told that it is lost.
func abandoned() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultReset, lock.FaultNodeCrash}, Data: "seal", FreeWithin: lock.TermAnyTime,
		FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTLAndCluster},
	}
}

// within is that of one which is free within a term, whatever its last holder did.
func within(term lock.Term) lock.Promise {
	p := abandoned()
	p.Exclusion, p.FreeWithin, p.FreeAfter = []lock.Fault{lock.FaultNodeCrash}, term, nil
	return p
}

// lease is the promise to start from for a lock with a lease.
func lease() lock.Promise { return glue.Lease() }

// knowsItself is that of a lock that knows its own key again.
func knowsItself() lock.Promise {
	p := lease()
	p.SelfExcludes, p.ResendExcludes = false, false
	return p
}

// held is that of a lock that renews itself and tells its holder of a loss: under the faults of clients and
// connections, and more. Its Release has no result.
func held(more ...lock.Fault) lock.Promise { return glue.Held(more...) }

// unreported is that of a lock which its user does not always give back.
func unreported() lock.Promise {
	p := lease()
	p.Duties = slices.DeleteFunc(p.Duties, func(d promise.Duty) bool { return d == promise.DutyReports })
	return p
}

// renewing is that of one whose documentation says that it renews itself: it must not lose the lock where nothing keeps
// it from that.
func renewing() lock.Promise {
	p := held()
	p.Duties = []promise.Duty{promise.DutyRenews}
	return p
}

// session is that of a lock of etcd, which lasts as long as a session. The revision of its key is a token.
func session() lock.Promise { return glue.Session() }

// unordered is that of an election of etcd, whose tokens do not always rise: by etcd-22123 a leader may have its last
// one again.
func unordered() lock.Promise {
	p := session()
	p.TokensUnordered = true
	return p
}

// steady is that where no session ends by a fault, which would void a grant: see etcd-11007 and etcd-void.
func steady() lock.Promise {
	p := session()
	p.Exclusion = []lock.Fault{lock.FaultReset}
	return p
}

// left is that where a candidate who has left keeps no other one waiting.
func left() lock.Promise {
	p := steady()
	p.TokensUnordered, p.FreeWithin = true, lock.TermTTLAndCluster
	return p
}

// freed is that of a lock that is free as soon as a session of ZooKeeper may have ended.
func freed() lock.Promise {
	p := session()
	p.FreeWithin = lock.TermSession
	return p
}

// tokenless is that of a session whose lock has no token.
func tokenless() lock.Promise {
	p := session()
	p.Data = "claim"
	return p
}

// pooled is that of a lock on one connection of a pool, whose loss is no fault here: it is free once it is released.
func pooled() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPool, lock.FaultLatency},
		Data:      "claim", FreeWithin: lock.TermTTL,
	}
}

// leaving is that of a lock which a process that dies does not keep.
func leaving() lock.Promise {
	return lock.Promise{Exclusion: []lock.Fault{lock.FaultCrash}, Data: "claim", FreeWithin: lock.TermTTL}
}

// stopped is that of an election whose calls return when their contexts end, whatever the network does.
func stopped() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultNodeCrash,
			lock.FaultNodePower},
		Data: "seal", FreeWithin: lock.TermAnyTime, ReturnsWithin: lock.TermTTLAndCluster,
		Duties: []promise.Duty{promise.DutyReturns},
	}
}

// successor is that of an election whose leader has the lease until it is told, and may stay the last one for a while.
func successor() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultNodeCrash,
			lock.FaultNodePower},
		Data: "seal", FreeWithin: lock.TermAnyTime,
	}
}

// returning is that of a lock whose Acquire returns soon after its context has ended, and that its user may ask for so
// seldom that it is free for long.
func returning() lock.Promise {
	p := dutiful(promise.DutyReturns)
	p.FreeWithin, p.FreeAfter = lock.TermAnyTime, map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime}
	p.ReturnsWithin = lock.TermReleaseTimeout
	return p
}

// answering is that of a lock whose calls return within a TTL.
func answering() lock.Promise {
	p := dutiful(promise.DutyReturns)
	p.ReturnsWithin = lock.TermTTL
	return p
}

// releasing is that of an election which gives the lead back when it is asked to, if it is answered.
func releasing() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultLatency}, Data: "seal", FreeWithin: lock.TermAnyTime,
		Duties: []promise.Duty{promise.DutyReports},
	}
}

// led is that of an election whose leader has the lead until it is told, where nothing keeps it from asking in time.
func led() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultCrash, lock.FaultPower, lock.FaultRestart},
		Data:      "claim", FreeWithin: lock.TermAnyTime,
	}
}

// leading is that of one that renews itself: it does not lose the lead where nothing keeps it from that.
func leading() lock.Promise {
	p := led()
	p.Duties = []promise.Duty{promise.DutyRenews}
	return p
}

// cutOff is that of one whose leader steps down before another one may lead, also where it reaches no server.
func cutOff() lock.Promise {
	p := led()
	p.Exclusion = append(p.Exclusion, lock.FaultPause, lock.FaultPartition, lock.FaultLatency, lock.FaultReset)
	return p
}

// sparing is that of a lock whose documentation says how long a client waits between two tries.
func sparing() lock.Promise { return dutiful(promise.DutySpares) }

// dutiful is that of a lock with one more duty.
func dutiful(d promise.Duty) lock.Promise {
	p := lease()
	p.Duties = append(p.Duties, d)
	return p
}

// inTable is that of a row with an end on one PostgreSQL, which has no fault of Redis.
func inTable() lock.Promise { return glue.InTable() }
