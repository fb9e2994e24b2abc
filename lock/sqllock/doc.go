// Package sqllock has locks in a database of PostgreSQL, or of MySQL or MariaDB, for production use, on package
// database/sql. It imports no driver; its tests use pgx and github.com/go-sql-driver/mysql.
//
//	locks, err := sqllock.NewTable(db, sqllock.Options{})
//	…
//	lease, err := locks.Acquire(ctx, "order:42")
//	if err != nil {
//		return err
//	}
//	defer lease.Release(ctx)
//	return charge(lease.Context(), lease.Token())
//
// # Which one
//
// If all that the lock protects is in the same database, take [ForUpdate] or [AdvisoryTransaction], and write in
// [Lease.Do]: the writes are part of the transaction that has the lock, so they count only if it still has it, and no
// fence is needed.
//
//   - [Table] is a row with an owner and the end of its lease. It needs no connection while it is held, mints a fencing
//     token, and a [lock.Watchdog] can renew it.
//   - [ForUpdate] locks a row in a transaction that stays open: SELECT … FOR UPDATE.
//   - [Queue] locks the row of a job in such a transaction, which deletes it: SELECT … FOR UPDATE SKIP LOCKED.
//   - [AdvisoryTransaction] and [Advisory] use advisory locks, of a transaction or of a session: they need no table.
//   - [Named] is that of MySQL: GET_LOCK, for a session.
//   - [Optimistic] is no lock: it writes a row only if the row has not changed since it was read, and tries again.
//
// # The clock
//
// Whether a lease has ended is decided by the database's clock alone (F63). A holder counts its own lease from the
// sending of the request, so it ends for the holder before it ends in the database. A database whose wall clock is set
// forward ends the leases of a [Table] early; the others go by durations, and are not affected.
//
// # Locks that a connection has
//
// PostgreSQL frees the row lock of a transaction, and an advisory lock, when the connection ends. That is at once if
// the process of the holder ends. If the holder is paused, or the network is cut, the database does not notice for
// hours. So these locks limit how long a session may be idle, by idle_in_transaction_session_timeout or
// idle_session_timeout, and send a statement every now and then: the limit is the TTL of the lease, and the statements
// renew it. A lease is valid until a TTL after the last statement that was answered was sent, and the holder is told
// before that, like that of a [lock.Watchdog]. Its writes in the transaction fail from then on. They mint no token: a
// sequence can give the same number twice after a crash of the server, since what a transaction has drawn from it is
// not on the disk before a commit.
//
// Each holder needs a connection of its own, and with [Options.Block] each waiter too: give the pool enough of them
// (F49).
//
// What counts is the connection: if it breaks, the database frees the lock at once, and the holder knows when its next
// statement fails. The claim of a holder is exclusive as long as its connection lasts.
//
// # What they need of the database
//
// PostgreSQL 14 or later, and the isolation level READ COMMITTED, which is the default. A pooling proxy has to keep a
// session on one server connection: with transaction pooling an advisory lock of a session stays with the server
// connection, and the next client has it (F66). A standby does not do. With synchronous_commit off, a crash of the
// server can undo the last grants of a [Table].
//
// # MySQL and MariaDB
//
// With [Options.Dialect] MySQL the locks are for MySQL 8, or MariaDB 10.6 and later, under any isolation level; they
// were tested on MariaDB 10.11. A session that is idle is ended by wait_timeout, and a wait for a row by
// innodb_lock_wait_timeout, both in whole seconds, of which the TTL of a lock that a connection has is a number. They
// are at their defaults afterwards. A deadlock ends the transaction of a [ForUpdate], as does a statement that commits
// by itself, such as CREATE TABLE: the lease is lost then, which the next statement of the lock notices, by a
// savepoint named held. Work must not use that name. A name of GET_LOCK excludes others on the whole server, not on
// its replicas.
package sqllock
