// Package fence is the resource's side of fencing: the rules by which a protected resource refuses operations of a
// holder that has lost its lock. The rules are pure functions on values. The resource stores the [State], and makes
// decision and operation one atomic step; the subpackages redisguard and sqlguard do so for data in Redis and in SQL
// tables.
//
// No lock with a lease can stop a holder that was paused past the end of its lease (F11 in the project's catalogue of
// failure modes) or its delayed packet (F13). The resource can, if each operation carries the grant under which it was
// sent:
//
//	op := fence.Op{Token: lease.Token()}
//	state, err := fence.Seal.Read(state, op)   // before answering a read
//	state, err := fence.Seal.Write(state, op)  // before applying a write
//
// # Which rule
//
// [Seal], for a lock that mints a fencing token: a number that increases with each grant (Kleppmann 2016, "How to do
// distributed locking"). [Strict] if the tokens may repeat, because the store that mints them can lose its latest
// writes. [Claim] for a lock without tokens, such as Redlock. [CAS] needs no lock, if a section changes only one
// register. [Check] is the rule of most articles, and is weaker than it looks.
//
// How many of all 90 interleavings of three clients that each read and then write end with wrong data, by rule (the
// tests of this package count it; "wrong" means that an accepted write was lost):
//
//	tokens      none  check  seal  strict  claim  cas
//	increasing    84     42     0       0      0    0
//	inverted      84     42     0       0      0    0
//	duplicate     84     84    84       0      0    0
//
// How many of the 270 writes in the same interleavings are accepted. A rule without wrong data has refused the rest
// because of another client in between, or because of misleading tokens.
//
//	tokens      none  check  seal  strict  claim  cas
//	increasing   270    198   138     138    138  150
//	inverted     270    138    90      90    138  150
//	duplicate    270    270   270      90    138  150
//
// "Inverted" is a lock whose later grants get lower tokens (F07): the data stays right under Seal and Strict, but
// rightful holders are refused. Duplicate tokens (F08, F09, F40, F42) defeat Check and Seal. A token must be minted in
// the same atomic step as the grant, in an order that the lock store never reverts.
//
// Fencing is not atomicity: a section of several writes can be interrupted between them under every rule (F73).
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
	// None accepts everything. It stops nothing, and exists for comparison.
	None Mode = "none"

	// Check refuses a write whose token is below the highest token written so far. Reads neither raise that number nor
	// are refused. It needs tokens. It is the rule of most articles.
	//
	// It stops a stale write once the successor has written (F11, F12, F13).
	//
	// It accepts a stale write before the successor's first write (F14): the highest number written is then still the
	// stale holder's own. If the successor has read by then, its own write, based on that read, overwrites the stale
	// one: an update is lost, with both accepted. It also accepts whatever Seal accepts, and a stale holder with the
	// higher token (F06, F07, F10).
	Check Mode = "check"

	// Seal is Check with reads: a read raises the highest token too, and a read with a lower one is refused. An
	// operation without a token (0) is refused once a token was seen.
	//
	// It stops everything that Check stops, and F14: once the successor has read, its writes are based on a state that
	// no lower token can change.
	//
	// It accepts operations with an equal token (duplicates: F08, F09, F40, F42), and a stale write before the
	// successor's first read, which is harmless: the successor then reads it. If tokens decrease (F06, F07, F09, F10,
	// F40) it refuses the rightful holder, and the data stays right.
	Seal Mode = "seal"

	// Strict is Seal in which a token belongs to the first grant that sends it: an equal token from another grant is
	// refused. The missing token, 0, is a token like any other here. It needs tokens and grant ids.
	//
	// It stops everything that Seal stops, and duplicate tokens: one read late from a shared counter (F08), one minted
	// again after a failover or a restart lost the counter (F09, F40), or by two primaries at once (F42).
	//
	// If tokens repeat or decrease it refuses the rightful holder, until the tokens exceed the highest one; the data
	// stays right.
	Strict Mode = "strict"

	// Claim makes a read claim the resource for its grant, and refuses a write unless its own grant still has the
	// claim. It is the alternative to tokens that antirez describes ("Is Redlock safe?", 2016). It needs grant ids, and
	// no tokens: it is for locks that cannot order their grants, such as Redlock, and ignores tokens.
	//
	// It stops a stale write once the successor has read (F11, F12, F13, F14), whatever the lock store lost, repeated
	// or inverted (F06 to F10, F40, F42; F15, F16, F24 of Redlock), provided that all holders use one resource.
	//
	// It accepts a stale holder whose read arrives late, after the successor's: the stale holder then has the claim,
	// and the successor is refused. The data stays right, but the wrong one of the two is accepted. A write without a
	// read before it is always refused.
	Claim Mode = "claim"

	// CAS (compare and set) refuses a write that is not based on the present version. It needs neither tokens nor grant
	// ids nor a lock; with a lock less work is wasted.
	//
	// Unlike the other rules it applies to one register: each has its own version, so that a section may write several
	// registers one after another.
	//
	// It stops every lost update of a register, whatever the lock did (F06 to F14, F40, F42). It also detects a
	// register that was changed and changed back, since versions only increase (F67).
	//
	// It accepts a stale holder that writes a register which was not written meanwhile. That is harmless to the
	// register, not to a sum over several: a write to one register that is based on a read of another is accepted
	// although that other has changed. It does not guard other effects of a section than its writes.
	CAS Mode = "cas"
)

// ErrStale is returned when a rule refuses an operation because of an earlier one that its sender has not seen.
//
// Under CAS the register was written since the sender read: it may read again and retry. Under every other rule there
// is a later grant of the lock than the sender's, or tokens mislead the rule: the sender must not retry under this
// grant.
var ErrStale = errors.New("stale operation")

// ErrNoGrant is returned when a rule that distinguishes grants, Strict or Claim, gets an operation without a grant id.
// Such an operation is always refused.
var ErrNoGrant = errors.New("the operation names no grant")

// Modes returns all modes: the rules on tokens first, from the weakest, then those without.
func Modes() []Mode { return []Mode{None, Check, Seal, Strict, Claim, CAS} }

// ParseMode returns the mode with the name s, or an error that lists the valid names.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if s == string(m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("unknown fencing mode %q: want one of %q", s, Modes())
}

// State is the state of a rule for a resource. The zero value is that of a new resource.
//
// It must be stored as durably as the data that it protects: a resource that loses its State accepts stale operations
// again. A State belongs to one rule; another one may misread it.
//
// A resource of several registers has one Highest and one Grant for all of them, and one Version for each: it puts the
// version of the register into the State before it applies a rule, and stores the version of the returned State. Only
// CAS uses it.
type State struct {
	// Highest is the highest token accepted so far, in a write (Check) or in any operation (Seal,
	// Strict). 0 means that none was seen.
	Highest uint64

	// Grant is the grant that sent Highest (Strict), or the one that has read last (Claim). Empty means none.
	Grant string

	// Version counts the accepted writes of a register (CAS). A read of the register returns it. 0 means no writes.
	Version uint64
}

// Op is an operation as a rule sees it. Each rule uses its own fields, and ignores the rest.
type Op struct {
	// Token is the fencing token of the sender's grant, 0 for none. Check, Seal and Strict compare it.
	Token uint64

	// Grant is the id of the sender's grant: a text that no other grant of the resource has ever had, such as 16 random
	// bytes in hexadecimal, drawn anew after each Acquire. Two equal ids defeat the rules that need them, Strict and
	// Claim (F31).
	Grant string

	// Version is the version of the register that a write is based on: that of the sender's last read, plus one for
	// each of its own writes accepted since. CAS compares it.
	Version uint64
}
