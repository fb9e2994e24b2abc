package trace

import "time"

// KeyChange is a change of a watched key on one server, as that server has it: the
// ground truth that no client sees. Only the key's existence and value count;
// that it is to expire at another time is no change.
type KeyChange struct {
	// Step is the number of the event in the trace, 0 in an untraced world.
	Step int
	// At is the virtual time since the start of the run.
	At time.Duration
	// Server is where it happened, Key what changed.
	Server, Key string
	// Value is what the key holds from now on, as its server's kind writes it. It
	// is empty where the key is gone.
	Value string
	// By is the process whose request did it, empty where the server did it.
	By string
	// Change is what happened.
	Change Change
}

// Change is what happened to a watched key.
type Change uint8

// The changes.
const (
	KeySet        Change = iota + 1 // a request gave it a value
	KeyDeleted                      // a request deleted it
	KeyExpired                      // its time was up
	KeyEvicted                      // the server had no memory left
	KeyFlushed                      // the server was emptied
	KeyReplicated                   // the server follows another, which has changed it
	// KeyRestored is what a server has after a restart, a promotion or a
	// resynchronisation: told of each watched key that it had before or has now.
	// It is also what a replica shows again when its clock has gone back.
	KeyRestored
)

// String is the change in a word.
func (c Change) String() string {
	switch c {
	case KeySet:
		return "set"
	case KeyDeleted:
		return "deleted"
	case KeyExpired:
		return "expired"
	case KeyEvicted:
		return "evicted"
	case KeyFlushed:
		return "flushed"
	case KeyReplicated:
		return "replicated"
	case KeyRestored:
		return "restored"
	}
	return "unknown"
}

// Key is one key of a server.
type Key struct {
	Name string
	// TTL is what it has left on the server's clock; 0 means for ever.
	TTL time.Duration
	// Value is what it holds, as its server's kind writes it.
	Value string
}

// Flight is what is under way on one direction of a link.
type Flight struct {
	// From and To are the link's ends.
	From, To string
	// Bytes counts what was sent and has not arrived.
	Bytes int
}
