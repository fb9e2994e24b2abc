package lock

import (
	"context"
	"time"
)

// A Locker hands out exclusive leases on named resources. It is safe for concurrent use.
type Locker interface {
	// Acquire waits for the lock on resource until ctx ends. The lease that it returns is the caller's
	// to release. ctx bounds the wait only: it may end afterwards without an effect on the lease.
	Acquire(ctx context.Context, resource string) (Lease, error)
}

// A Lease is one grant of a lock. It is safe for concurrent use.
type Lease interface {
	// Token returns the fencing token of this grant, to be sent with every operation on the protected
	// resource. 0 means that the lock mints none.
	Token() uint64

	// Until returns the instant, on the lock's own [Clock], at which the lease ends unless it was
	// released before. It is counted from the sending of the request that was granted.
	Until() time.Time

	// Lost returns a channel that is closed when the holder learns that it has lost the lock, at the
	// latest at Until. By then Context has been cancelled. Release never closes it.
	Lost() <-chan struct{}

	// Context returns a context that is cancelled when the lease is lost or Release is called. After a
	// loss, [context.Cause] of it is [ErrLost]. It carries the values of the context that Acquire was
	// called with, but neither its deadline nor its cancellation.
	Context() context.Context

	// Release gives the lock back. It goes on when ctx has ended, within a bound of the lock's own. Its
	// error wraps [ErrNotHeld] when the lease had ended before, and [ErrOutcomeUnknown] when no answer
	// came. It may be called again.
	Release(ctx context.Context) error
}
