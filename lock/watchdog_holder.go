package lock

import "context"

// holderKey is the key of the value that WithHolder adds.
type holderKey struct{}

// WithHolder returns a copy of ctx, for the Acquire of a [Watchdog], that names the holder's own context: the lease is
// renewed until holder ends. ctx itself bounds only the wait.
//
//	wait, cancel := context.WithTimeout(worker, 5*time.Second)
//	defer cancel()
//	lease, err := locks.Acquire(lock.WithHolder(wait, worker), "order:42")
//
// A worker that ends without a Release, and whose context is cancelled by that, then does not keep the lock (F36).
// Locks that do not renew their leases ignore it.
func WithHolder(ctx, holder context.Context) context.Context {
	return context.WithValue(ctx, holderKey{}, holder)
}

// holderOf returns the context that WithHolder has named, or one that never ends.
func holderOf(ctx context.Context) context.Context {
	if holder, ok := ctx.Value(holderKey{}).(context.Context); ok {
		return holder
	}
	return context.Background()
}
