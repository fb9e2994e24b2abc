package fence

import "fmt"

// State is what a resource remembers for its rule. The zero value is a fresh resource.
//
// It is to be stored as durably as the data that it protects: a resource that forgets its State
// accepts stale operations again.
type State struct {
	// Highest is the highest token accepted so far, in a write (Check) or in any operation (Seal).
	// 0 means that none was seen.
	Highest uint64
}

// NeedsToken reports whether the rule compares tokens. With a lock that mints none, such a rule
// cannot tell a stale operation from a good one.
func (m Mode) NeedsToken() bool { return m.known() != None }

// Read decides on a read that carries token, 0 for none. It returns the state to keep: s itself, with
// an error that wraps [ErrStale], when the read is refused.
func (m Mode) Read(s State, token uint64) (State, error) {
	if m.known() != Seal {
		return s, nil
	}
	return raise(s, token, "read")
}

// Write decides on a write that carries token, 0 for none. It returns the state to keep: s itself,
// with an error that wraps [ErrStale], when the write is refused.
func (m Mode) Write(s State, token uint64) (State, error) {
	if m.known() == None {
		return s, nil
	}
	return raise(s, token, "write")
}

// raise refuses a token below the highest, and makes it the highest otherwise. The missing token, 0,
// is below every other, so it passes only as long as the resource has seen none.
func raise(s State, token uint64, op string) (State, error) {
	if token < s.Highest {
		return s, fmt.Errorf("%s with token %d refused, token %d was seen: %w", op, token, s.Highest, ErrStale)
	}
	return State{Highest: token}, nil
}

// known returns m, and panics when it is none of the constants.
func (m Mode) known() Mode {
	switch m {
	case None, Check, Seal:
		return m
	}
	panic(fmt.Sprintf("fence: %q is not a mode", string(m)))
}
