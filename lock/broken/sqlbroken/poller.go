package sqlbroken

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"locksim/lock"
	"locksim/lock/broken/polling"
)

// poller is the right part of the locks on a row.
type poller struct {
	Specimen

	mistake mistake
	db      *sql.DB
	opt     Options
	polling *polling.Poller
}

// Acquire implements [lock.Locker]. A statement that fails ends it; its outcome counts as unknown, and its lease ends
// by itself.
func (p *poller) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return p.polling.Acquire(ctx, resource, func() (lock.Lease, error) { return p.try(ctx, resource) })
}

// try asks once. The lease is nil if another client has the lock.
func (p *poller) try(ctx context.Context, resource string) (lock.Lease, error) {
	owner, err := p.polling.Owner()
	if err != nil {
		return nil, err
	}
	if err := p.mistake.clean(ctx, p.db, p.opt.Wall); err != nil {
		return nil, err
	}
	g := grant{p, row{resource, owner, p.opt.TTL}}
	until := p.opt.Clock.Now().Add(p.opt.TTL)
	minted, granted, err := p.mistake.take(ctx, p.db, g.row)
	if err != nil || !granted {
		return nil, err
	}
	p.opt.Point("taken")
	token := uint64(0)
	if p.Tokens {
		if token, err = p.mistake.token(ctx, p.db, resource, minted); err != nil {
			return nil, err
		}
	}
	return lock.NewLease(ctx, p.opt.Clock, g, resource, token, until), nil
}

// grant is a row that was taken.
type grant struct {
	poller *poller
	row    row
}

// Extend implements [lock.Grant]. No specimen has a user that extends.
func (grant) Extend(context.Context) (until time.Time, held bool, err error) {
	return time.Time{}, false, fmt.Errorf("this lock cannot be extended: %w", errors.ErrUnsupported)
}

// Delete implements [lock.Grant].
func (g grant) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lock.DefaultReleaseTimeout)
	defer cancel()
	if deleted, err = g.poller.mistake.free(ctx, g.poller.db, g.row); err != nil {
		err = fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	}
	return deleted, err
}

// pair takes two locks for one resource.
type pair struct {
	each   lock.Locker
	second bool // first
}

// Acquire implements [lock.Locker].
func (p *pair) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	first, second := resource+"/from", resource+"/to"
	if p.second {
		first, second = second, first
	}
	outer, err := p.each.Acquire(ctx, first)
	if err != nil {
		return nil, err
	}
	inner, err := p.each.Acquire(ctx, second)
	if err != nil {
		return nil, errors.Join(err, outer.Release(ctx))
	}
	return &both{inner, outer}, nil
}

// both is the lease of the lock that was taken last, and ends with that of the first.
type both struct {
	lock.Lease
	first lock.Lease
}

// Release implements [lock.Lease].
func (b *both) Release(ctx context.Context) error {
	return errors.Join(b.Lease.Release(ctx), b.first.Release(ctx))
}
