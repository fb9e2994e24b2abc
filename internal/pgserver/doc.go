// Package pgserver runs a PostgreSQL: in a private folder, on a Unix socket there, and as an unprivileged user, which
// PostgreSQL insists on. It is in the packages postgresql of Debian and Ubuntu, which start a server of their own; this one
// uses their programs only. It needs Linux.
//
// Nothing of it outlives the program: a guardian, which is the program once more, ends the server and removes what it has
// left, also when the program was killed. A program that imports the package is that guardian if the environment says so.
package pgserver

import (
	"errors"
	"time"
)

// ErrNoCompiler is returned where a server is to have a clock of its own, and nothing can compile that.
var ErrNoCompiler = errors.New("a C compiler is missing: install Debian's gcc and libc6-dev")

// Options configure a server.
type Options struct {
	// Settings are lines of postgresql.conf, such as "max_connections = 20".
	Settings []string
	// Clock gives the server a wall clock of its own: see [Server.SetTime].
	Clock bool
}

// A Timer is that of a process of the server, such as a backend with a time limit for its statement.
type Timer struct {
	// PID is the process.
	PID int
	// Due is when it is to fire, on the server's wall clock.
	Due time.Time

	at int64 // where the file has Due
}
