package lock

import (
	"context"
	"errors"
)

// Fill returns a value that is computed once and then kept in a cache, such as the page of a site: many processes that
// find none at the same time would otherwise all compute it. It looks for the value with look. If there is none, it
// acquires the lock on resource, looks again, since another process may have computed the value meanwhile, and only
// then calls compute, which also puts the value where look finds it.
//
// The context of the second look and of compute ends with ctx, with the lease, and when Fill returns; after a loss, its
// [context.Cause] is [ErrLost]. Fill releases the lease in every case, also after the end of ctx.
//
// A lease can end while compute is at work, and then another process computes the value too: the lock saves work, and
// does not make compute run once. The store can refuse what was computed under an old lease by its token, if the lock
// mints tokens: compute gets the lease for that. The work has been done twice all the same.
//
// The error has those of look, of Acquire or of compute, and that of Release. If only Release failed, the value is
// valid.
func Fill[T any](ctx context.Context, locker Locker, resource string,
	look func(context.Context) (value T, found bool, err error),
	compute func(context.Context, Lease) (T, error),
) (value T, err error) {
	if value, found, err := look(ctx); found || err != nil {
		return value, err
	}
	lease, err := locker.Acquire(ctx, resource)
	if err != nil {
		return value, err
	}
	defer func() {
		err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) // it has a limit of its own
	}()
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := context.AfterFunc(lease.Context(), func() { end(context.Cause(lease.Context())) })
	defer stop()
	if value, found, err := look(work); found || err != nil {
		return value, err
	}
	return compute(work, lease)
}
