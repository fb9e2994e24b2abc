package subject

import (
	"context"
	"os/exec"
	"time"

	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/sim"
	"locksim/sim/trace"
)

// ServerKind is a kind of server that a world can have: Redis, or one that a lock
// brings along.
type ServerKind struct {
	// Facts are what a scenario file knows of it. Its Name is a word of lower-case letters; its Prefix one lower-case
	// letter or more, but not c, r or s alone, which are taken. What it Watches, two replicas at least, comes after the
	// servers of Redis. Servers that watch, or are Behind others or Beside them, grant no lock, and are not counted among
	// those of the lock. Its Leader is the name of a [sim.Builder.Alias].
	server.Facts
	// Make makes the given number of them, named by prefix and number from 0 on.
	Make func(count int) sim.Kind
	// In is the kind in a world with such settings, for servers that have some. Nil is for those without.
	In func(w file.World) ServerKind
	// Power says why the machines of these servers cannot lose their power in this program, in one line; nil if they can.
	// A scenario in which one does is refused then, and no search draws it. A nil Power is for servers whose machines
	// always can.
	Power func() error
	// Uncompared is set for servers that were written after documentation, and were compared with no real ones: reports
	// say so beside what was seen with them.
	Uncompared bool
	// Settles is set for servers that form a cluster, which clients see as one server: it is how long the cluster may
	// take to serve all clients again after trouble of one of its members, or of a link among them. It elects a leader,
	// and clients notice which of their connections are broken. 0 means that each server is for itself.
	Settles time.Duration
	// Late is how long at most an answer that has arrived is kept from the code of the lock, where a client in the world
	// is made repeatable so. 0 means that it has it at once.
	Late time.Duration
	// Missing says what has to be installed before such servers can be made, in one line; nil if nothing has. A nil
	// Missing is for servers that can always be made.
	Missing func() error
	// Stop ends what Make has started outside the worlds of this process; nil if it starts nothing. The command calls it
	// at its end.
	Stop func() error
	// Prepare makes a real server of a live run, at its address, ready for the locks, such as by making tables. Nil if
	// there is nothing to do. An error that wraps [faults.ErrUnable] says why there are no real servers like that.
	Prepare func(ctx context.Context, address string) error
	// Real starts real servers of this kind for live runs. Nil is for Redis, etcd, ZooKeeper, PostgreSQL and MariaDB,
	// which live runs know, and for servers of which there are no real ones.
	Real *RealServer
	// Advice says what in a client of these servers may explain the first difference of two runs that should be equal,
	// and what to do; "" for nothing. Nil is for clients without a known source of chance.
	Advice func(d *trace.Divergence) string

	own *ownKey // nil for a kind that a lock brings along
}

// Role is that of its servers at the start, but for primaries with their replicas.
func (k ServerKind) Role() trace.Role {
	switch {
	case k.Watches:
		return trace.RoleWatcher
	case k.Behind:
		return trace.RoleBehind
	case k.Settles > 0:
		return trace.RoleMember
	}
	return trace.RoleSingle
}

// RealServer is how live runs start a real server of a kind that they do not know: a process on this machine.
type RealServer struct {
	// Command makes the command of a server that listens on an address of the loopback interface, with its files in a
	// folder, which is also its working directory. It is called again after a crash. Its environment is added to that of
	// servers, which has PATH and HOME.
	Command func(folder, address string) *exec.Cmd
	// Ready returns nil once the server at an address serves clients. Nil means that it accepts connections.
	Ready func(ctx context.Context, address string) error
	// Lease is the shortest lease that a client can use, and Why says what a shorter one lacks, as the end of a sentence.
	Lease time.Duration
	Why   string
	// Unsynced says what such a process leaves to the operating system when it is killed, which a power failure would
	// lose, as a sentence without a stop: live runs do not play one then. "" is for a server that syncs before it answers,
	// or has no files.
	Unsynced string
	// Return is how long a server that has crashed needs, from its start on, until it serves clients again.
	Return time.Duration
}
