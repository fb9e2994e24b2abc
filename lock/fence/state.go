package fence

// State is what a resource remembers for its rule. The zero value is a fresh resource.
//
// It is to be stored as durably as the data that it protects: a resource that forgets its State
// accepts stale operations again. A State belongs to one rule; another one may misread it.
//
// A resource of several registers has one Highest and one Grant for all of them, and one Version for
// each: it puts the version of the register in question into the State before it asks a rule, and
// stores it from the State that it gets back. Only CAS looks at it.
type State struct {
	// Highest is the highest token accepted so far, in a write (Check) or in any operation (Seal,
	// Strict). 0 means that none was seen.
	Highest uint64

	// Grant is the grant that sent Highest (Strict), or the one that has read last (Claim). Empty means
	// that there was none.
	Grant string

	// Version counts the accepted writes of a register (CAS). Whoever reads the register is to be told
	// it. 0 means that nobody has written.
	Version uint64
}

// Op is what an operation says about itself. Each rule looks at its own part, and ignores the rest.
type Op struct {
	// Token is the fencing token of the sender's grant, 0 for none. Check, Seal and Strict compare it.
	Token uint64

	// Grant is the id of the sender's grant: any text that no other grant of the resource has ever had,
	// such as 16 random bytes in hexadecimal, drawn anew after each Acquire. Two equal ids defeat the
	// rules that need them (F31). Strict and Claim do.
	Grant string

	// Version is the version of the register that a write is based on: what the sender's last read of
	// it was told, plus one for each of its own writes accepted since. CAS compares it.
	Version uint64
}
