// Package mariadbserver runs a MariaDB: in a private folder, on a Unix socket there or on a loopback address, and as an
// unprivileged user. Its user root has no password. It is in the package mariadb-server of Debian and Ubuntu, which
// starts a server of its own; this one uses its programs only. It needs Linux.
//
// Nothing of it outlives the program: a guard (package guard) ends the server and removes what it has left, also when
// the program was killed.
package mariadbserver

import (
	"locksim/internal/dbserver"
	"locksim/internal/live/shim"
)

// ErrNoCompiler is returned where the threads of a server are to have turns, and nothing can compile that.
var ErrNoCompiler = shim.ErrNoCompiler

// ErrExited is returned where the server has exited before it served: its address was taken, or its settings are wrong.
var ErrExited = dbserver.ErrExited

// Options configure a server.
type Options struct {
	// Settings are options of mariadbd, such as "max-connections=20".
	Settings []string
	// Turns lets one thread of the server run at a time, and gives it clocks of its own: see [Server.Settle] and
	// [Server.SetTime].
	Turns bool
	// Address is one on the loopback interface, such as "127.0.0.1:3306", on which the server listens. Empty means a Unix
	// socket in its folder.
	Address string
	// Dir is an empty folder for the server, in that of a guard of the caller. Empty means a folder and a guard of its
	// own.
	Dir string
	// Sync lets the server sync its files before it answers, as it does by default. Without it, it does not: a process
	// that is killed leaves its files to the operating system.
	Sync bool
	// Env is more of the environment of the server, such as "LD_PRELOAD=…".
	Env []string
}
