package sim

import (
	"locksim/faults"
	"locksim/sim/trace"
)

// This file has what a [Server] may be able to do, one method each. A fault that
// needs an ability which a server lacks is an error that says so. All are called
// on the world's goroutine.

// Crasher is a server that knows what is left of it after a crash. Of one that is
// none, nothing is left.
type Crasher interface {
	// Crash says that the process ends now, with its memory: see [faults.Crash].
	// All sessions are reset after it.
	Crash(mode faults.CrashMode)
}

// Restarter is a server that comes back with what it has kept. One that is none
// is made anew.
type Restarter interface {
	// Restart brings it back. step is the number of the event.
	Restart(step int)
}

// Keeper is a server that can say, when it comes back, what it has kept: "3 keys
// kept".
type Keeper interface {
	Kept() string
}

// ClockFollower is a server that plans something at an instant of its wall clock.
type ClockFollower interface {
	// ClockChanged says that the wall clock has jumped, or changed its rate.
	ClockChanged()
}

// Promoter is a server of a group in which one leads and others follow.
type Promoter interface {
	// Promote makes this server the leader: see [faults.Failover].
	Promote(f faults.Failover) error
}

// Evictor is a server whose memory may be full.
type Evictor interface {
	// Evict takes so many keys away: see [faults.Evict].
	Evict(policy faults.EvictionPolicy, keys int)
}

// Flusher is a server that can be emptied.
type Flusher interface {
	// Flush forgets all that: see [faults.Flush].
	Flush(what faults.FlushWhat)
}

// WriteRefuser is a server that can be made to refuse writes.
type WriteRefuser interface {
	// RefuseWrites begins it, or ends it. It is not called twice with the same.
	RefuseWrites(refuse bool)
}

// PeerFollower is a server that wants to know when a link to a peer works again
// over which something was lost. It is told at both ends, when nothing keeps the
// link from working any more.
type PeerFollower interface {
	PeerBack(peer *Node)
}

// Closer is a server that has something to end with the run: goroutines, files.
type Closer interface {
	Close()
}

// KeyWatcher is a server whose keys are the lock: it keeps a record of them by
// [Node.KeyChanged].
type KeyWatcher interface {
	WatchKeys(keys []string)
}

// Keyed is a server that can list its keys.
type Keyed interface {
	// Keys are all keys now, in the order of their names.
	Keys() []trace.Key
}

// Ranked is a server that has a role among others.
type Ranked interface {
	// Role is the role in words, "primary" or "replica of r0", and how far the
	// server is with what it is told or has done.
	Role() (role string, offset int64)
}

// Describer is a server whose kind has words for the bytes that go over its
// connections. Without it the trace shows them as they are, see [trace.Bytes].
// A protocol whose bytes differ between runs that mean the same has to describe
// them by what does not differ.
type Describer interface {
	// Describe describes bytes of either direction. It may keep b.
	Describe(dir Direction, b []byte) trace.Content
}

// Joiner is a server whose clients write one message in several pieces, cut by
// the scheduler: what one end of a connection writes in one instant is joined.
type Joiner interface {
	JoinWrites()
}

// Canonical is a server whose clients tell it facts of the real machine, such as
// the version of Go, which a run must not depend on.
type Canonical interface {
	// Canonical returns what is sent in place of b, a copy in any case. Any
	// goroutine may call it.
	Canonical(b []byte) []byte
}
