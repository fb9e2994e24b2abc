// Package fence is the resource's side of fencing: the rules by which a protected resource refuses
// operations of a holder whose lock is somebody else's by now. The rules are pure functions on values.
// Who keeps the [State], and makes decision and operation one atomic step, is up to the resource; the
// subpackages redisguard and sqlguard do it for data in Redis and in SQL tables.
//
// No lock with a lease can stop a holder that was paused past the end of its lease (F11 in the
// project's catalogue of failure modes) or a packet of it that was delayed (F13). The resource can, if
// each operation says under which grant it was sent:
//
//	op := fence.Op{Token: lease.Token()}
//	state, err := fence.Seal.Read(state, op)   // before answering a read
//	state, err := fence.Seal.Write(state, op)  // before applying a write
//
// # Which rule
//
// [Seal], for a lock that mints a fencing token: a number that is larger with each grant (Kleppmann 2016,
// "How to do distributed locking"). [Strict] if the tokens may repeat, because the store that mints
// them can lose its latest writes. [Claim] for a lock without tokens, such as Redlock. [CAS] needs no
// lock at all, where a section changes one register. [Check] is what most articles describe, and is
// weaker than it looks.
//
// What the rules leave over, counted over all 90 interleavings of three clients that each read and
// then write (the tests of this package count it; "wrong" means that an accepted write was lost):
//
//	tokens      none  check  seal  strict  claim  cas
//	increasing    84     42     0       0      0    0
//	inverted      84     42     0       0      0    0
//	duplicate     84     84    84       0      0    0
//
// The same 90 from the other side: how many of their 270 writes were accepted. A rule without wrong
// data has refused the rest because somebody else had come in between, or because tokens misled it.
//
//	tokens      none  check  seal  strict  claim  cas
//	increasing   270    198   138     138    138  150
//	inverted     270    138    90      90    138  150
//	duplicate    270    270   270      90    138  150
//
// "Inverted" is a lock whose later grants get lower tokens (F07): the data stays right under Seal and
// Strict, but rightful holders are refused. Duplicate tokens (F08, F09, F40, F42) defeat Check and Seal.
// A token must be minted in the same atomic step as the grant, in an order that the lock store never
// takes back.
//
// Fencing is not atomicity: a section of several writes can be cut between them under every rule (F73).
package fence

import (
	"errors"
	"fmt"
)

// Mode is a fencing rule, by which a store takes or refuses an operation.
//
// The constants are the only valid values; [ParseMode] makes one from text. Methods of any other value
// panic, since only a wrong program can have made it.
//
// All rules but CAS are about the resource: everything that one lock protects has one State. F numbers
// are entries of the project's catalogue of failure modes.
type Mode string

const (
	// None accepts everything. It stops nothing, and is there for comparison.
	None Mode = "none"

	// Check refuses a write whose token is below the highest token written so far. Reads neither raise
	// that number nor are refused. It needs tokens. It is what most articles describe.
	//
	// It stops a stale write once the successor has written (F11, F12, F13).
	//
	// It lets through a stale write that comes before the successor's first write (F14): the highest
	// number written is then still the stale holder's own. If the successor has read by then, its own
	// write, based on that read, buries the stale one: an update is lost, with both accepted. It lets
	// through whatever Seal lets through as well, and a stale holder whose token is the higher one
	// (F06, F07, F10).
	Check Mode = "check"

	// Seal is Check where reads count as well: a read raises the highest token too, and a read with a
	// lower one is refused. An operation without a token (0) is refused once a token was seen.
	//
	// It stops everything that Check stops, and F14: once the successor has read, whatever it will
	// write is based on a state that no lower token can change any more.
	//
	// It lets through operations with an equal token (duplicates: F08, F09, F40, F42), and a stale write
	// that comes before the successor's first read, which is harmless: the successor then reads it.
	// Where tokens go down (F06, F07, F09, F10, F40) it refuses the rightful holder, and the data stays
	// right.
	Seal Mode = "seal"

	// Strict is Seal where a token belongs to the first grant that sends it: an equal token from another
	// grant is refused. The missing token, 0, is a token like any other here. It needs tokens and grant
	// ids.
	//
	// It stops everything that Seal stops, and duplicate tokens: one read late from a shared counter
	// (F08), one minted again after a failover or a restart lost the counter (F09, F40), or by two
	// masters at once (F42).
	//
	// Where tokens repeat or go down it refuses the rightful holder, until the tokens have passed the
	// highest one; the data stays right.
	Strict Mode = "strict"

	// Claim lets a read claim the resource for its grant, and refuses a write unless the claim is still
	// its own grant's. It is the alternative to tokens that antirez describes ("Is Redlock safe?", 2016).
	// It needs grant ids, and no tokens: it serves locks that cannot order their grants, such as Redlock,
	// and does not care how tokens are minted.
	//
	// It stops a stale write once the successor has read (F11, F12, F13, F14), whatever the lock store
	// forgot, repeated or inverted (F06 to F10, F40, F42; F15, F16, F24 of Redlock), provided that all
	// holders meet at one resource.
	//
	// It lets through a stale holder whose read arrives late, after the successor's: the claim is then
	// the stale holder's, and the successor is refused. The data stays right, the wrong one of the two
	// gets through. A write without a read before it is always refused.
	Claim Mode = "claim"

	// CAS (compare and set) refuses a write that is not based on the version that is there. It needs
	// neither tokens nor grant ids nor a lock; with a lock it wastes less work.
	//
	// Unlike the other rules it is about one register: each has a version of its own, so that a section
	// may write several registers after one another.
	//
	// It stops every lost update of a register, whatever the lock did (F06 to F14, F40, F42). A register
	// that was changed and changed back is still told apart, since versions only go up (F67).
	//
	// It lets through a stale holder that writes what nobody else has written meanwhile. That is harmless
	// to the register, not to a sum over several: a write to one register that is based on a read of
	// another is not noticed when that other has changed. Nor does it guard what a section does beyond
	// its writes.
	CAS Mode = "cas"
)

// ErrStale is returned when a rule refuses an operation because another has come before it that it
// does not know of.
//
// Under CAS somebody has written since the sender read: it may read again and retry. Under every other
// rule another grant of the lock has come after the sender's, or tokens mislead the rule: the sender
// must not retry under this grant.
var ErrStale = errors.New("stale operation")

// ErrNoGrant is returned when a rule that tells grants apart, Strict or Claim, is asked about an
// operation that names no grant. Such an operation is always refused.
var ErrNoGrant = errors.New("the operation names no grant")

// Modes returns all modes: the rules on tokens first, the weakest of them leading, then those without.
func Modes() []Mode { return []Mode{None, Check, Seal, Strict, Claim, CAS} }

// ParseMode returns the mode called s, or an error that lists the valid names.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if s == string(m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("unknown fencing mode %q: want one of %q", s, Modes())
}
