// Package fence is the resource's side of fencing: the rules by which a protected resource refuses
// operations whose fencing token is stale. The rules are pure functions on values. Who keeps the
// [State], and makes decision and operation one atomic step, is up to the resource.
//
// A fencing token is a number that a lock mints with each grant, larger each time; the holder sends
// it with every operation (Kleppmann 2016, "How to do distributed locking"). No lock with a lease can
// stop a holder that was paused past the end of its lease (F11 in the project's catalogue of failure
// modes) or a packet of it that was delayed (F13). The resource can, if it remembers a number.
//
// A resource keeps one State for everything that one lock protects, not one for each register in it:
//
//	state, err := fence.Seal.Read(state, token)   // before answering a read
//	state, err := fence.Seal.Write(state, token)  // before applying a write
//
// What the rules leave over, counted over all 90 interleavings of three clients that each read and
// then write (the tests of this package count it; "wrong" means that an accepted write was lost):
//
//	tokens      none  check  seal
//	increasing    84     42     0
//	inverted      84     42     0
//	duplicate     84     84    84
//
// "Inverted" is a lock whose later grants get lower tokens (F07): the data stays right under seal, but
// rightful holders are refused. Duplicate tokens (F09, F31, F40, F42) defeat both rules: a token must be
// minted in the same atomic step as the grant, in an order that the lock store never takes back.
//
// Fencing is not atomicity: a section of several writes can be cut between them under every rule (F73).
package fence

import (
	"errors"
	"fmt"
)

// Mode names a fencing rule. The constants are the only valid values; [ParseMode] makes one from text.
// Methods of any other value panic, since only a wrong program can have made it.
type Mode string

const (
	// None accepts everything. It stops nothing, and is there for comparison.
	None Mode = "none"

	// Check refuses a write whose token is below the highest token written so far. Reads neither raise
	// that number nor are refused. It is what most articles describe.
	//
	// It stops a stale write once the successor has written (F11, F12, F13).
	//
	// It lets through a stale write that comes before the successor's first write (F14): the highest
	// number written is then still the stale holder's own. If the successor has read by then, its own
	// write, based on that read, buries the stale one: an update is lost, with both accepted.
	Check Mode = "check"

	// Seal is Check where reads count as well: a read raises the highest token too, and a read with a
	// lower one is refused. An operation without a token (0) is refused once a token was seen.
	//
	// It stops everything that Check stops, and F14: once the successor has read, whatever it will
	// write is based on a state that no lower token can change any more.
	//
	// It lets through operations with an equal token (duplicates: F08, F09, F31, F40, F42), and a stale
	// write that comes before the successor's first read, which is harmless: the successor then reads it.
	// With inverted tokens (F07) it refuses the rightful holder, and the data stays right.
	Seal Mode = "seal"
)

// ErrStale is returned when a rule refuses an operation: its token is lower than one that the
// resource has seen, so another grant of the lock has come after the sender's. The sender no longer
// holds the lock and must not retry with the same token.
var ErrStale = errors.New("stale fencing token")

// Modes returns all modes, the weakest rule first.
func Modes() []Mode { return []Mode{None, Check, Seal} }

// ParseMode returns the mode called s, or an error that lists the valid names.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if s == string(m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("unknown fencing mode %q: want one of %q", s, Modes())
}
