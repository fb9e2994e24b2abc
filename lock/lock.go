package lock

import (
	"context"
	"errors"
	"time"
)

// A Locker grants exclusive leases on named resources. It is safe for concurrent use.
type Locker interface {
	// Acquire waits for the lock on resource until ctx ends. The caller releases the returned lease. ctx bounds only
	// the wait: its later end has no effect on the lease.
	Acquire(ctx context.Context, resource string) (Lease, error)
}

// A Lease is one grant of a lock. It is safe for concurrent use.
type Lease interface {
	// Token returns the fencing token of this grant, to be sent with every operation on the protected resource. 0 means
	// that the lock mints none.
	Token() uint64

	// Until returns the instant, on the lock's own [Clock], at which the lease ends unless it was
	// released before. It is counted from the sending of the request that was granted.
	Until() time.Time

	// Lost returns a channel that is closed when the lock is known to be lost, at the latest at Until. Context has been
	// cancelled by then. Release never closes it.
	Lost() <-chan struct{}

	// Context returns a context that is cancelled when the lease is lost or Release is called. After a loss,
	// [context.Cause] of it is [ErrLost]. It has the values of the context of Acquire, but neither its deadline nor its
	// cancellation.
	Context() context.Context

	// Release gives the lock back, also after the end of ctx, within the lock's own time limit. Its error wraps
	// [ErrNotHeld] when the lease had ended before, and [ErrOutcomeUnknown] when no answer arrived. It may be called
	// again.
	Release(ctx context.Context) error
}

// A Clock is the source of time of a lock. It is safe for concurrent use.
//
// Only differences between readings matter, so they should be monotonic. A [time.Time] made by time.Now carries a
// monotonic reading, which makes Sub, Before and After immune to steps of the wall clock (F21); so does a result of Add
// on it. A Clock that creates its own times, such as a simulator's, returns times that never step unless it simulates a
// step.
type Clock interface {
	// Now returns the current time.
	Now() time.Time

	// Sleep waits for d, or until ctx ends. Its error is nil after a full sleep and otherwise that of ctx.
	Sleep(ctx context.Context, d time.Duration) error

	// AfterFunc calls f in its own goroutine after d. The returned function cancels the call, and reports whether it
	// did: false means that f was called or is being called.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

var (
	// ErrNotHeld is returned when a release or a renewal found no key, or another owner's: the lease had ended before.
	// After a release of unknown outcome it may also mean that that release had worked.
	ErrNotHeld = errors.New("lock not held")

	// ErrOutcomeUnknown is returned when a request may or may not have been carried out: it was sent, or may have been,
	// and no answer arrived. The error also wraps the cause.
	ErrOutcomeUnknown = errors.New("outcome unknown")

	// ErrNoQuorum is returned when so many nodes of a Redlock failed that the rest cannot decide. The error
	// also wraps [NodeErrors].
	ErrNoQuorum = errors.New("no quorum")

	// ErrExtensionLimit is returned when a Redlock lease has been extended as often as
	// RedlockOptions.MaxExtensions allows. The lease stays valid until Until.
	ErrExtensionLimit = errors.New("limit of extensions")

	// ErrTaken is returned when a single try found that another owner holds the lock, or waits for it in a queue.
	// Acquire waits instead; only that of a Redlock wraps it, when ctx ends, as the failure of its last try.
	ErrTaken = errors.New("lock taken")

	// ErrLost is the [context.Cause] of a lease's context once the lease is lost. No method returns it.
	ErrLost = errors.New("lease lost")
)
