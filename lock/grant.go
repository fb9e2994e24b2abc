package lock

import (
	"context"
	"time"
)

// A Grant is what [NewLease] needs of a lock that is not of this package. It is safe for concurrent use.
type Grant interface {
	// Extend renews the grant for another TTL, with one request. held is false when the grant has ended or is
	// another's. until is the end of the new validity, counted from the sending.
	Extend(ctx context.Context) (until time.Time, held bool, err error)

	// Delete gives the grant back, also when ctx has ended. deleted is false when it had ended or was another's.
	Delete(ctx context.Context) (deleted bool, err error)
}

// NewLease returns the lease of a grant of a lock that is not of this package, with all that [Lease] and [Extender]
// promise: a timer that ends it at until on the clock, the notice of a loss, and a Release that may be called again. The
// end of ctx, that of Acquire, does not end it. resource is for errors.
//
// A [Watchdog] can renew it.
func NewLease(ctx context.Context, clock Clock, g Grant, resource string, token uint64, until time.Time) Lease {
	return newLease(ctx, foreign{clock, g}, claim{resource: resource}, token, until)
}

// foreign is a granter for one grant.
type foreign struct {
	source Clock
	grant  Grant
}

func (f foreign) clock() Clock { return f.source }

func (f foreign) extend(ctx context.Context, _ claim) (until time.Time, held bool, err error) {
	return f.grant.Extend(ctx)
}

func (f foreign) delete(ctx context.Context, _ claim) (deleted bool, err error) {
	return f.grant.Delete(ctx)
}

// SystemClock returns the machine's clock, the default of all locks.
func SystemClock() Clock { return defaultClock() }
