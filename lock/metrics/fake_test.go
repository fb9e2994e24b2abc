package metrics_test

import (
	"context"
	"time"

	"locksim/lock"
)

// asker is a lock that is one function.
type asker func(ctx context.Context, resource string) (lock.Lease, error)

func (a asker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return a(ctx, resource)
}

// answer is a lock that always gives the same answer.
func answer(l lock.Lease, err error) asker {
	return func(context.Context, string) (lock.Lease, error) { return l, err }
}

// bare is a lease that cannot be extended, of a lock that tells nothing about its end.
type bare struct {
	token    uint64
	until    time.Time
	releases []error // what its releases return, one after the other
}

func (b *bare) Token() uint64          { return b.token }
func (b *bare) Until() time.Time       { return b.until }
func (*bare) Lost() <-chan struct{}    { return nil }
func (*bare) Context() context.Context { return context.Background() }

func (b *bare) Release(context.Context) error {
	err := b.releases[0]
	b.releases = b.releases[1:]
	return err
}

// elastic is a lease that can be extended.
type elastic struct {
	*bare
	err error // what Extend returns
}

func (e elastic) Extend(context.Context) error { return e.err }

// trying and owning are abilities of a lock.
type (
	trying struct{ lock.Lease }
	owning struct{ lock.Lease }
)

func (t trying) TryAcquire(context.Context, string) (lock.Lease, error) { return t.Lease, nil }
func (o owning) As(string) lock.Locker                                  { return answer(o.Lease, nil) }
