package trace

import "time"

// KeyChange is a change of a watched key on one server: the ground truth that
// no client sees. Only the key's existence and value count; a new expiry is no
// change.
type KeyChange struct {
	// Step is the number of the event in the trace, 0 in an untraced world.
	Step int
	// At is the virtual time since the start of the run.
	At time.Duration
	// Server is the server, Key the key that changed.
	Server, Key string
	// Value is the new value, as the server's kind writes it. It is empty if
	// the key no longer exists.
	Value string
	// Members are the members of a list, a set or a hash, in no particular order. It
	// is nil for any other value, and if the key no longer exists.
	Members []string
	// By is the process whose request changed it, empty if the server itself
	// did.
	By string
	// Change is what happened.
	Change Change
}

// Change is what happened to a watched key.
type Change uint8

// The changes.
const (
	KeySet        Change = iota + 1 // a request set its value
	KeyDeleted                      // a request deleted it
	KeyExpired                      // its TTL ended
	KeyEvicted                      // the server was out of memory
	KeyFlushed                      // the server was emptied
	KeyReplicated                   // the server follows another, which has changed it
	// KeyRestored is the state after a restart, a promotion or a
	// resynchronisation, for each watched key that the server had before or has
	// now. It is also a key that a replica shows again after its clock has
	// jumped back.
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
	// TTL is the remaining time on the server's clock; 0 means no expiry.
	TTL time.Duration
	// Value is its value, as the server's kind writes it.
	Value string
}

// Flight is what is under way on one direction of a link.
type Flight struct {
	// From and To are the link's ends.
	From, To string
	// Bytes is the number of bytes that were sent and have not arrived.
	Bytes int
}
