package lock

import (
	"context"
	"time"
)

// An Extender is a [Lease] that can be renewed. The leases of all kinds of this package are. It is found
// by type assertion:
//
//	err := lease.(lock.Extender).Extend(ctx)
//
// A [Watchdog] does it over and over.
type Extender interface {
	// Extend makes the lease last for a full TTL from the sending of this request, and moves Until. It
	// sends once. It renews nothing but the grant that the lease stands for: it never creates a key, and
	// never touches another owner's (F04, F05).
	//
	// Its error wraps [ErrNotHeld] when the lease has ended, and [ErrOutcomeUnknown] when no answer came.
	Extend(ctx context.Context) error
}

// extendKey makes the claim's key last for ttl from now on, if it is still the claim's.
func extendKey(ctx context.Context, r Redis, c claim, ttl time.Duration) (held bool, err error) {
	return owned(extendScript.Run(ctx, r, []string{c.key}, c.owner, ttl.Milliseconds()))
}

// deleteKey removes the claim's key, if it is still the claim's, and tells those who wait for it.
func deleteKey(ctx context.Context, r Redis, c claim) (deleted bool, err error) {
	return owned(releaseScript.Run(ctx, r, []string{c.key}, c.owner, releasedChannel(c)))
}
