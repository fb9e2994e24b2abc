// Package pgserver runs a PostgreSQL: in a private folder, on a Unix socket there or on a loopback address, and as an
// unprivileged user, which PostgreSQL insists on. It asks for no password. It is in the packages postgresql of Debian
// and Ubuntu, which start a server of their own; this one uses their programs only. It needs Linux.
//
// Nothing of it outlives the program: a guard (package guard) ends the server and removes what it has left, also when
// the program was killed.
package pgserver

import (
	"time"

	"locksim/internal/dbserver"
	"locksim/internal/live/shim"
)

// ErrNoCompiler is returned where a server is to have a clock of its own, and nothing can compile that.
var ErrNoCompiler = shim.ErrNoCompiler

// ErrExited is returned where the server has exited before it served: its address was taken, or its settings are wrong.
var ErrExited = dbserver.ErrExited

// Options configure a server.
type Options struct {
	// Settings are lines of postgresql.conf, such as "max_connections = 20".
	Settings []string
	// Clock gives the server a wall clock of its own: see [Server.SetTime].
	Clock bool
	// Address is one on the loopback interface, such as "127.0.0.1:5432", on which the server listens. Empty means a Unix
	// socket in its folder.
	Address string
	// Dir is an empty folder for the server, in that of a guard of the caller. Empty means a folder and a guard of its
	// own.
	Dir string
	// Env is more of the environment of the server, such as "LD_PRELOAD=…".
	Env []string
}

// A Timer is that of a process of the server, such as a backend with a time limit for its statement.
type Timer struct {
	// PID is the process.
	PID int
	// Due is when it is to fire, on the server's wall clock.
	Due time.Time

	at int64 // where the file has Due
}
