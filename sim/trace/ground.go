package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// KeyChange is a change of a watched key on one server: the ground truth that
// no client sees. It is a change of the key's value, or, as [KeyProlonged], of
// the time that the key has left. A request that leaves both is no change.
type KeyChange struct {
	// Step is the number of the event in the trace in which the server carried
	// out the request of Asked, or made the change by itself. It is that of the
	// next event if the server records none, and 0 in an untraced world.
	Step int `json:"step"`
	// At is the virtual time since the start of the run.
	At time.Duration `json:"at"`
	// Server is the server, Key the key that changed.
	Server string `json:"server"`
	Key    string `json:"key"`
	// Value is the new value, as the server's kind writes it. It is empty if
	// the key no longer exists.
	Value string `json:"value,omitempty"`
	// Members are the members of a list, a set or a hash, in no particular order. It
	// is nil for any other value, and if the key no longer exists.
	Members []string `json:"members,omitzero"`
	// By is the process whose request changed it, empty if the server itself
	// did. Where the key is the first place of a queue, and the place before
	// it was given up, By is the process that has asked for the place before,
	// and Asked the one whose request gave the other place up. A [KeySet]
	// without it says that the key is of no one client: several share the
	// session that has it.
	By string `json:"by,omitempty"`
	// Change is what happened.
	Change Change `json:"change"`

	// Asked is the process whose request the server carried out at Step, empty
	// if it carried out none. A replica that follows its primary, and a server
	// that ends a key, carry out none.
	Asked string `json:"asked,omitempty"`
	// Request is the kind of that request: see [Kinded]. It is empty without
	// one, and if the server's kind does not say it.
	Request string `json:"request,omitempty"`
	// Session says that the key went with the session of its client, which the request ended.
	Session bool `json:"session,omitempty"`
	// Over says that the request put this value in the place of another one,
	// Was, without a deletion between them. Some kinds of server tell an
	// overwrite as a [KeyDeleted] and a [KeySet] of one step: both have Over.
	Over bool `json:"over,omitempty"`
	// Was is the value before, and WasOf the process that had set it. Both are
	// empty if there was none.
	Was   string `json:"was,omitempty"`
	WasOf string `json:"was_of,omitempty"`
	// Left is the time that the key had left just before the change.
	Left TimeLeft `json:"left,omitzero"`
	// ByClients says of a [KeyExpired] that no server ended the key: it was not renewed for as long as it says, from when
	// on a client may take it, by its own clock.
	ByClients bool `json:"by_clients,omitempty"`
}

// Change is what happened to a watched key.
type Change uint8

// The changes.
const (
	// KeySet is a key whose value a request set. A kind of server whose keys
	// have revisions may tell a value that was set again so too: Was is the
	// same then, and Over false.
	KeySet        Change = iota + 1
	KeyDeleted           // a request deleted it
	KeyExpired           // its TTL ended
	KeyEvicted           // the server was out of memory
	KeyFlushed           // the server was emptied
	KeyReplicated        // the server follows another, which has changed it
	// KeyRestored is the state after a restart, a promotion or a
	// resynchronisation, for each watched key that the server had before or has
	// now. It is also a key that a replica shows again after its clock has
	// jumped back.
	KeyRestored
	// KeyProlonged is a key that keeps its value, and gets more time or less,
	// also none or no end: by a request, such as PEXPIRE, a SET of the same
	// value or a renewal of its lease, or, without one, by the primary of a
	// replica. Who follows the values of keys leaves it out.
	KeyProlonged
	// KeyMoved is a key that a node of a Redis Cluster has no more, or has now, since its slot has moved.
	KeyMoved
	// KeyOperated is a key that an operator has deleted, overwritten, or ended the session of.
	KeyOperated
)

// TimeLeft is the time that a key has left by the clock of its server. The zero
// value says that the record does not know it.
type TimeLeft struct {
	End End `json:"end,omitempty"`
	// Time is the time left of an [EndTimed], not positive if it is over.
	Time time.Duration `json:"time,omitempty"`
}

// End is whether the server ends a key.
type End uint8

// What a record knows of the end of a key.
const (
	EndUnknown End = iota // nothing
	EndNone               // there was no key
	EndNever              // no clock of the server ends it: it stays
	EndTimed              // the server ends it after a time
	EndSession            // it stays as long as the session of its client, which the client keeps alive
)

// LeftFor is a time that a key has left.
func LeftFor(d time.Duration) TimeLeft { return TimeLeft{End: EndTimed, Time: d} }

// String is the time left in words.
func (l TimeLeft) String() string {
	switch l.End {
	case EndNone:
		return "no key"
	case EndNever:
		return "no end"
	case EndSession:
		return "as long as its session"
	case EndTimed:
		return l.Time.String()
	}
	return "unknown"
}

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
	case KeyProlonged:
		return "prolonged"
	case KeyMoved:
		return "moved"
	case KeyOperated:
		return "operated"
	}
	return "unknown"
}

// MarshalText writes the word of the change.
func (c Change) MarshalText() ([]byte, error) {
	if c < KeySet || c > KeyOperated {
		return nil, fmt.Errorf("write the change %d of a key: there is none of that number", uint8(c))
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads the word of a change. The error names the words.
func (c *Change) UnmarshalText(word []byte) error {
	var words []string
	for known := KeySet; known <= KeyOperated; known++ {
		if known.String() == string(word) {
			*c = known
			return nil
		}
		words = append(words, known.String())
	}
	return fmt.Errorf("%q is no change of a key: say %s", word, strings.Join(words, ", "))
}

// endWords are the words of ends, by their numbers.
var endWords = [...]string{EndUnknown: "unknown", EndNone: "none", EndNever: "never", EndSession: "session",
	EndTimed: "timed"}

// MarshalText writes the word of the end.
func (e End) MarshalText() ([]byte, error) {
	if int(e) >= len(endWords) {
		return nil, fmt.Errorf("write the end %d of a key: there is none of that number", uint8(e))
	}
	return []byte(endWords[e]), nil
}

// UnmarshalText reads the word of an end. The error names the words.
func (e *End) UnmarshalText(word []byte) error {
	i := slices.Index(endWords[:], string(word))
	if i < 0 {
		return fmt.Errorf("%q is no end of a key: say %s", word, strings.Join(endWords[:], ", "))
	}
	*e = End(i)
	return nil
}

// Key is one key of a server.
type Key struct {
	Name string `json:"name"`
	// TTL is the remaining time on the server's clock; 0 means no expiry.
	TTL time.Duration `json:"ttl,omitempty"`
	// Value is its value, as the server's kind writes it.
	Value string `json:"value,omitempty"`
}

// Flight is what is under way on one direction of a link.
type Flight struct {
	// From and To are the link's ends.
	From, To string
	// Bytes is the number of bytes that were sent and have not arrived.
	Bytes int
}
