package sim

import (
	"locksim/faults"
	"locksim/sim/trace"
)

// This file has the optional abilities of a [Server], one method each. A fault
// that needs an ability which a server lacks returns an error that says so. All
// are called on the world's goroutine.

// Crasher is a server that may keep data over a crash. Any other server loses
// everything.
type Crasher interface {
	// Crash ends the process now, with its memory: see [faults.Crash]. All
	// sessions are reset after it.
	Crash(mode faults.CrashMode)
}

// Restarter is a server that restarts with what it has kept. Any other server
// is created anew: the old one is closed, if it is a [Closer], and the new one
// gets the watched keys, if it is a [KeyWatcher], and refuses writes where a fault
// says so, if it is a [WriteRefuser].
type Restarter interface {
	// Restart starts the process again. step is the number of the event.
	Restart(step int)
}

// Keeper is a server that can say, when it restarts, what it has kept: "3 keys
// kept".
type Keeper interface {
	Kept() string
}

// ClockFollower is a server that schedules work at an instant of its wall
// clock.
type ClockFollower interface {
	// ClockChanged is called when the wall clock has jumped, or changed its
	// rate.
	ClockChanged()
}

// Disturbable is a server that is told when a fault concerns its machine or its links to other servers: one that does
// nothing while nothing can happen.
type Disturbable interface {
	// Disturbed is called when the fault begins, before it has any effect, and when it ends.
	Disturbed()
}

// ClientsFirst is a server that does, after a stall, first what clients have sent, then what other servers have, and
// then what it does on its own. Any other server does all of that in the order in which it came.
type ClientsFirst interface {
	// ServesClientsFirst says so.
	ServesClientsFirst()
}

// Promoter is a server of a group in which one leads and others follow.
type Promoter interface {
	// Promote makes this server the leader: see [faults.Failover].
	Promote(f faults.Failover) error
}

// WriteRefuser is a server that can be made to refuse writes.
type WriteRefuser interface {
	// RefuseWrites makes the server refuse writes, and call refused for each of
	// them; nil makes it accept writes again. It is not called with a function
	// while the server refuses writes, but it is for a server that a restart creates
	// anew while the fault is in force.
	RefuseWrites(refused func())
}

// ErrorReplier is a server that can answer requests with errors: for each request that meets one, it
// asks [Node.Refused].
type ErrorReplier interface {
	// ReplyErrors are the errors that it can give.
	ReplyErrors() []faults.ReplyError
}

// PeerFollower is a server that is told when a link to a peer works again after
// it has lost a message. Both ends are told, once no cut of the link is left.
type PeerFollower interface {
	PeerBack(peer *Node)
}

// Closer is a server that has goroutines to stop or files to close. Close is
// called once, at the end of the run or when a restart creates the server anew.
type Closer interface {
	Close()
}

// KeyWatcher is a server whose keys are the lock: it reports their changes by
// [Node.KeyChanged].
type KeyWatcher interface {
	// WatchKeys reports the changes of these keys too, from now on.
	WatchKeys(keys []string)
}

// Keyed is a server that can list its keys.
type Keyed interface {
	// Keys are all keys at present, in the order of their names.
	Keys() []trace.Key
}

// SessionLocker is a server that can list the locks which end with the sessions that have them. What else keeps a
// client out, such as a row of a table, it does not list.
type SessionLocker interface {
	// SessionLocks are those at present, in the order of their names.
	SessionLocks() []trace.Key
}

// Ranked is a server that has a role in a group.
type Ranked interface {
	// Role is the role in words, "primary" or "replica of r0", and the server's
	// replication offset.
	Role() (role string, offset int64)
}

// Describer is a server that describes the bytes on its connections. Without it
// the trace shows them as they are, see [trace.Bytes]. A protocol whose bytes
// differ between equal runs has to describe them by the parts that do not
// differ.
type Describer interface {
	// Describe describes bytes of either direction. It may retain b.
	Describe(dir Direction, b []byte) trace.Content
}

// Joiner is a server whose clients write one message in several pieces, which
// the scheduler determines: all that one end of a connection writes in one
// instant is joined.
type Joiner interface {
	JoinWrites()
}

// Still is a server without goroutines of its own, or most of the time. While it is still the world does not look for
// what a request has unblocked.
type Still interface {
	// Still reports whether the server has no goroutine that runs, or that it could unblock.
	Still() bool
}

// Canonical is a server whose clients send it facts of the real machine, such
// as the version of Go, on which a run must not depend.
type Canonical interface {
	// Canonical returns a copy of b, or what is sent in its place. Any
	// goroutine may call it.
	Canonical(b []byte) []byte
}

// Immediate is a server some of whose requests are answered without a message and without a delay, even while the
// process is paused: a client library that keeps a mutex from the request to the answer would keep virtual time from
// passing, so that neither could come.
type Immediate interface {
	// Answer returns the answer to one write of a client that is such a request, and nil for all others. Any goroutine
	// may call it.
	Answer(b []byte) []byte
}

// Greeted is a server that some clients greet while they keep a mutex, such as a subscription of go-redis: a dial of
// such a client returns at once, as that to an [Early] server, and so does the greeting. The server gets the requests
// of the greeting, and must send no answers to them on a connection that is [ServerConn.Greeted]. Both methods are the
// same for all servers of the kind.
type Greeted interface {
	// GreetedBelow is how the names of the functions begin below which these clients dial.
	GreetedBelow() string
	// Greet returns the answers to the greeting that one write of a client is, and nil for all others. Any goroutine may
	// call it.
	Greet(b []byte) []byte
}

// Early is a server whose clients keep a mutex while they connect: a dial returns at once, and what the client writes
// waits until the connection is made. If it cannot be made, the client notices when it reads. Virtual time would stand
// still otherwise as soon as another goroutine of the client wants the mutex. Where the server is [Immediate] too, it
// gets the requests that were answered at once, and sends no answer to them.
type Early interface {
	// ConnectsEarly says so.
	ConnectsEarly()
}
