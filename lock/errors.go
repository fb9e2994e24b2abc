package lock

import "errors"

var (
	// ErrNotHeld is returned when a release found the key gone, or held by another owner: the lease
	// had ended before. After a release of unknown outcome it may also mean that this release had worked.
	ErrNotHeld = errors.New("lock not held")

	// ErrOutcomeUnknown is returned when a request may or may not have been carried out: it was sent,
	// or may have been, and no answer came. The error also wraps the cause.
	ErrOutcomeUnknown = errors.New("outcome unknown")

	// ErrLost is the [context.Cause] of a lease's context once the lease is lost. No method returns it.
	ErrLost = errors.New("lease lost")
)
