package lock

import "errors"

var (
	// ErrNotHeld is returned when a release or a renewal found the key gone, or held by another owner:
	// the lease had ended before. After a release of unknown outcome it may also mean that this release
	// had worked.
	ErrNotHeld = errors.New("lock not held")

	// ErrOutcomeUnknown is returned when a request may or may not have been carried out: it was sent,
	// or may have been, and no answer came. The error also wraps the cause.
	ErrOutcomeUnknown = errors.New("outcome unknown")

	// ErrNoQuorum is returned when so many nodes of a Redlock failed that the rest cannot decide. The error
	// also wraps [NodeErrors].
	ErrNoQuorum = errors.New("no quorum")

	// ErrExtensionLimit is returned when a Redlock lease has been extended as often as
	// RedlockOptions.MaxExtensions allows. The lease stays valid until Until.
	ErrExtensionLimit = errors.New("limit of extensions")

	// ErrTaken is returned when a single try found that somebody else holds the lock, or waits for it in a
	// queue. Acquire waits instead; only that of a Redlock wraps it, when ctx ends, with what its last try met.
	ErrTaken = errors.New("lock taken")

	// ErrLost is the [context.Cause] of a lease's context once the lease is lost. No method returns it.
	ErrLost = errors.New("lease lost")
)
