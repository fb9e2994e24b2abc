package mysqllocks

import (
	"database/sql"
	"time"

	"locksim/lock"
	"locksim/lock/broken/mysqlbroken"
	"locksim/lock/promise"
	"locksim/lock/sqllock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
)

// All are the locks of this package, the specimens last.
func All() []subject.Lock {
	return append([]subject.Lock{Table(), ForUpdate(), Queue(), GetLock(), Version()}, Specimens()...)
}

// Specimens are the locks of package mysqlbroken.
func Specimens() []subject.Lock {
	var all []subject.Lock
	for _, s := range mysqlbroken.All() {
		all = append(all, Specimen(s))
	}
	return all
}

// Specimen is one of them.
func Specimen(s mysqlbroken.Specimen) subject.Lock {
	l := subject.Lock{
		Name: kinds.BrokenPrefix + s.Name,
		Traits: subject.Traits{Servers: Servers(), Tokens: s.Tokens, FollowsSpec: true,
			About: "A lock that is wrong on purpose: " + s.Wrong, ForWhom: "Tests: it is wrong on purpose."},
		New: func(e subject.Env) (lock.Locker, error) {
			db, err := Open(e)
			if err != nil {
				return nil, err
			}
			spec := e.Spec()
			return s.New(db, mysqlbroken.Options{
				TTL: spec.TTL, Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max}, Second: e.Name() != "c0",
				Clock: e.Clock(), Wall: e.WallClock(), Jitter: e.Source("lock"), Entropy: e.Entropy("lock"),
				Point: func(label string) { _ = e.Point(label) },
			})
		},
	}
	if s.Held {
		l.Lease = subject.LeaseHeld
	}
	return l
}

// common are the faults under which all of them keep exclusion: a server that recovers has what was committed.
func common(more ...lock.Fault) []lock.Fault {
	return append([]lock.Fault{
		lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultSlow, lock.FaultPool,
		lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultStall, lock.FaultReadOnly, lock.FaultWallClock,
		lock.FaultNodeCrash, lock.FaultNodePower,
	}, more...)
}

// Table is a [sqllock.Table] in MySQL.
func Table() subject.Lock {
	return subject.Lock{
		Name: "mysql-table", Traits: subject.Traits{Servers: Servers(), Tokens: true, FollowsSpec: true, Data: Data(nil),
			Messages: 16,
			Promise: lock.Promise{
				Exclusion: common(lock.FaultWorker), Data: "seal", FreeWithin: lock.TermTTL,
				Duties: []promise.Duty{promise.DutyEnds, promise.DutyWaits, promise.DutyReports, promise.DutyTells,
					promise.DutyTries},
			},
			About: "A row of a MySQL table has the owner, the end of the lease by the clock of the server, and the number of " +
				"grants, which is the fencing token. One UPDATE takes a free or expired row.",
			ForWhom: "Short work on data that must stay right, in a store that compares tokens, where MySQL is at hand."},
		New: func(e subject.Env) (lock.Locker, error) { return made(e, true, sqllock.NewTable) },
	}
}

// ForUpdate is a [sqllock.ForUpdate] in MySQL.
func ForUpdate() subject.Lock {
	return connected("mysql-for-update", true,
		"SELECT … FOR UPDATE locks a row of a MySQL table in a transaction that stays open until the release. The server "+
			"ends it when it has not heard of the client for a TTL.",
		func(e subject.Env) (lock.Locker, error) {
			return made(e, false, func(db *sql.DB, o sqllock.Options) (*sqllock.ForUpdate, error) {
				o.Table = rows
				return sqllock.NewForUpdate(db, o)
			})
		})
}

// Queue is a [sqllock.Queue] in MySQL: the resource is a job.
func Queue() subject.Lock {
	l := connected("mysql-queue", true,
		"A job is a row of a MySQL table. SELECT … FOR UPDATE SKIP LOCKED gives it to one worker, in a transaction that "+
			"stays open until the job is done and that deletes the row. The server ends it when it has not heard of the worker "+
			"for a TTL, and the job is there for the next one.",
		func(e subject.Env) (lock.Locker, error) {
			return made(e, false, func(db *sql.DB, o sqllock.Options) (*sqllock.Queue, error) {
				o.Table = jobs
				return sqllock.NewQueue(db, o)
			})
		})
	l.Waits, l.Promise.FreeWithin = false, lock.TermTTL // no worker waits in the database
	l.ForWhom = "Jobs of which each is done once, in the same database, in the transaction that has the job; elsewhere " +
		"only jobs that may be done twice."
	return l
}

// GetLock is a [sqllock.Named].
func GetLock() subject.Lock {
	return connected("mysql-get-lock", false,
		"GET_LOCK takes a name for a MySQL session: it lasts as long as the connection. The server ends that when it has "+
			"not heard of the client for a TTL.",
		func(e subject.Env) (lock.Locker, error) { return made(e, false, sqllock.NewNamed) })
}

// Version is no lock: rows with a version, which each write compares, as [sqllock.Optimistic] has them.
func Version() subject.Lock {
	l := subject.Unlocked("mysql-version", Servers(), common(lock.FaultWorker), database.OpenStore)
	l.About = "No lock: a row of a MySQL table has a version. A write counts only if the version is the one that " +
		"was read, and otherwise the client reads again, three times in all."
	l.ForWhom = "Changes of a row of the same database that rarely meet, and that may be computed again."
	return l
}

// rows is the table of [ForUpdate], and jobs that of [Queue].
const (
	rows = "lock_rows"
	jobs = "lock_jobs"
)

// connected is a lock that a connection has. The holder learns of its loss within a TTL: its heartbeat fails, or comes
// too late.
func connected(name string, transaction bool, about string, make func(subject.Env) (lock.Locker, error)) subject.Lock {
	forWhom, work := "Work on data in the same database, in the transaction that has the lock; elsewhere only work that "+
		"may be done twice.", inTransaction
	if !transaction {
		work = nil
		forWhom = "Work that may be done twice, and a leader among the clients of one server."
	}
	return subject.Lock{
		Name: name, Traits: subject.Traits{Servers: Servers(), FollowsSpec: true, Waits: true, Lease: subject.LeaseHeld,
			Data: Data(work), Messages: 40,
			Promise: lock.Promise{
				Exclusion: common(), Data: "claim", FreeWithin: lock.TermTTLAndWaiter,
				Duties: []promise.Duty{promise.DutyEnds, promise.DutyWaits, promise.DutyReports, promise.DutyTries,
					promise.DutyRenews},
			},
			About: about, ForWhom: forWhom}, New: make,
	}
}

// made makes a lock on the database of a client, by the scenario. Where the TTL is not fine, it is one of whole
// seconds.
func made[L lock.Locker](e subject.Env, fine bool, make func(*sql.DB, sqllock.Options) (L, error)) (lock.Locker,
	error) {
	db, err := Open(e)
	if err != nil {
		return nil, err
	}
	spec := e.Spec()
	ttl := spec.TTL
	if ttl%time.Second != 0 && !fine {
		ttl = ttl.Truncate(time.Second) + time.Second
	}
	return make(db, sqllock.Options{
		Dialect: sqllock.MySQL,
		TTL:     ttl, Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
		Block:   spec.Wait == file.WaitNotify,
		Context: e.Context(), Clock: e.Clock(), Jitter: e.Source("lock"), Entropy: e.Entropy("lock"),
	})
}
