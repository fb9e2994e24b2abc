// Package sqllocks puts the locks of package [locksim/lock/sqllock] on trial, on a real PostgreSQL whose time is that
// of the world: see [locksim/sim/postgres].
//
//	scenarios.Check(t, sqllocks.Table(), scenarios.Options{})
//
// A lock of your own takes [Servers], and [Open] for its database:
//
//	mine := scenarios.Lock{Name: "mine", Servers: sqllocks.Servers(), New: func(e scenarios.Env) (lock.Locker, error) {
//		db, err := sqllocks.Open(e)
//		…
//	}}
//
// The database has the tables of all locks of this package then, and that of the protected data: a table of your lock
// needs another name than locks, lock_rows, broken_locks, broken_rows and registers. A driver of your own connects as
// user locksim to database postgres, without TLS and password.
//
// A program that imports this package compiles pgx. The server is started when a world first needs it, one for each
// process, and serves one world after another. It ends with the process. Where PostgreSQL or a C compiler is missing, a
// run ends with an error that names the Debian package to install.
package sqllocks
