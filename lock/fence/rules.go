package fence

import "fmt"

// NeedsToken reports whether the rule compares tokens. With a lock that mints none, such a rule cannot detect a stale
// operation.
func (m Mode) NeedsToken() bool {
	switch m.known() {
	case Check, Seal, Strict:
		return true
	}
	return false
}

// NeedsGrant reports whether the rule distinguishes grants by their ids. It refuses an operation without one.
func (m Mode) NeedsGrant() bool {
	switch m.known() {
	case Strict, Claim:
		return true
	}
	return false
}

// Guard names what saves the data when the rule refuses a stale operation, as the subject of a sentence. It is empty
// for None, which refuses nothing.
func (m Mode) Guard() string {
	switch m.known() {
	case Check, Seal, Strict:
		return "the fencing token"
	case Claim:
		return "the check of the grant's claim"
	case CAS:
		return "the compare-and-set of the value that was read"
	}
	return ""
}

// Read decides on a read. It returns the new state: s itself, with an error that wraps [ErrStale] or [ErrNoGrant], when
// the read is refused.
func (m Mode) Read(s State, op Op) (State, error) {
	if err := m.complete(op, "read"); err != nil {
		return s, err
	}
	switch m {
	case Seal:
		return raise(s, op, "read")
	case Strict:
		return raiseAlone(s, op, "read")
	case Claim:
		s.Grant = op.Grant
	}
	return s, nil
}

// Write decides on a write. It returns the new state: s itself, with an error that wraps [ErrStale] or [ErrNoGrant],
// when the write is refused.
func (m Mode) Write(s State, op Op) (State, error) {
	if err := m.complete(op, "write"); err != nil {
		return s, err
	}
	switch m {
	case Check, Seal:
		return raise(s, op, "write")
	case Strict:
		return raiseAlone(s, op, "write")
	case Claim:
		return s, unlessClaimed(s, op)
	case CAS:
		return replace(s, op)
	}
	return s, nil
}

// complete refuses an operation without a grant id if the rule needs one.
func (m Mode) complete(op Op, verb string) error {
	if m.NeedsGrant() && op.Grant == "" {
		return fmt.Errorf("%s refused by rule %s: %w", verb, m, ErrNoGrant)
	}
	return nil
}

// raise refuses a token below the highest, and makes it the highest otherwise. The missing token, 0, is below every
// other, so it is accepted only before the first token.
func raise(s State, op Op, verb string) (State, error) {
	if op.Token < s.Highest {
		return s, fmt.Errorf("%s with token %d refused, token %d was seen: %w", verb, op.Token, s.Highest, ErrStale)
	}
	s.Highest = op.Token
	return s, nil
}

// raiseAlone is raise in which a token belongs to the first grant that sends it.
func raiseAlone(s State, op Op, verb string) (State, error) {
	if op.Token == s.Highest && s.Grant != "" && s.Grant != op.Grant {
		return s, fmt.Errorf("%s with token %d of grant %q refused, grant %q has sent the same token: %w",
			verb, op.Token, op.Grant, s.Grant, ErrStale)
	}
	next, err := raise(s, op, verb)
	if err == nil {
		next.Grant = op.Grant
	}
	return next, err
}

// unlessClaimed refuses a write of any grant but the one that has read last.
func unlessClaimed(s State, op Op) error {
	switch s.Grant {
	case op.Grant:
		return nil
	case "":
		return fmt.Errorf("write of grant %q refused, it has not read: %w", op.Grant, ErrStale)
	}
	return fmt.Errorf("write of grant %q refused, the claim is that of grant %q: %w", op.Grant, s.Grant, ErrStale)
}

// replace refuses a write that is not based on the present version.
func replace(s State, op Op) (State, error) {
	if op.Version != s.Version {
		return s, fmt.Errorf("write based on version %d refused, version %d is there: %w", op.Version, s.Version, ErrStale)
	}
	s.Version++
	return s, nil
}

// known returns m, and panics if it is not one of the constants.
func (m Mode) known() Mode {
	switch m {
	case None, Check, Seal, Strict, Claim, CAS:
		return m
	}
	panic(fmt.Sprintf("fence: %q is not a mode", string(m)))
}
