// Package mysqllocks puts the locks of package [locksim/lock/sqllock] on trial in MySQL: on a real MariaDB whose time
// is that of the world, see [locksim/sim/mariadb].
//
//	scenarios.Check(t, mysqllocks.Table(), scenarios.Options{})
//
// A lock of your own takes [Servers], and [Open] for its database:
//
//	mine := scenarios.Lock{Name: "mine", Servers: mysqllocks.Servers(), New: func(e scenarios.Env) (lock.Locker, error) {
//		db, err := mysqllocks.Open(e)
//		…
//	}}
//
// The database has the tables of all locks of this package then, and that of the protected data: a table of your lock
// needs another name than locks, lock_rows, broken_locks, broken_rows and registers. A driver of your own connects as
// user locksim to database locksim, without TLS and password.
//
// A program that imports this package compiles github.com/go-sql-driver/mysql. The server is started when a world first
// needs it, one for each process, and serves one world after another. It ends with the process. Where MariaDB or a C
// compiler is missing, a run ends with an error that names the Debian package to install.
package mysqllocks
