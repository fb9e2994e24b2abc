package metrics_test

import (
	"context"
	"time"

	"locksim/lock"
)

// acquireFunc is a lock that consists of its Acquire.
type acquireFunc func(ctx context.Context, resource string) (lock.Lease, error)

func (a acquireFunc) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return a(ctx, resource)
}

// always is a lock whose Acquire always returns the same values.
func always(l lock.Lease, err error) acquireFunc {
	return func(context.Context, string) (lock.Lease, error) { return l, err }
}

// plainLease is a lease that cannot be extended and gives no notice of its end.
type plainLease struct {
	token    uint64
	until    time.Time
	releases []error // the results of its releases, one after another
}

func (b *plainLease) Token() uint64          { return b.token }
func (b *plainLease) Until() time.Time       { return b.until }
func (*plainLease) Lost() <-chan struct{}    { return nil }
func (*plainLease) Context() context.Context { return context.Background() }

func (b *plainLease) Release(context.Context) error {
	err := b.releases[0]
	b.releases = b.releases[1:]
	return err
}

// extendableLease is a lease that can be extended.
type extendableLease struct {
	*plainLease
	err error // the result of Extend
}

func (e extendableLease) Extend(context.Context) error { return e.err }

// withTry and withOwners are abilities of a lock.
type (
	withTry    struct{ lock.Lease }
	withOwners struct{ lock.Lease }
)

func (t withTry) TryAcquire(context.Context, string) (lock.Lease, error) { return t.Lease, nil }
func (o withOwners) As(string) lock.Locker                               { return always(o.Lease, nil) }
