package sqlbroken

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"locksim/lock"
)

// poller is the right part of the locks on a row.
type poller struct {
	Specimen

	mistake mistake
	db      *sql.DB
	opt     Options

	mu   sync.Mutex // guards dice and opt.Entropy
	dice *rand.Rand
}

// Acquire implements [lock.Locker]. A statement that fails ends it; its outcome counts as unknown, and its lease ends by
// itself.
func (p *poller) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for {
		l, err := p.try(ctx, resource)
		switch {
		case err != nil:
			return nil, fmt.Errorf("acquire %s: %w: %w", resource, lock.ErrOutcomeUnknown, err)
		case l != nil:
			return l, nil
		}
		if err := p.opt.Clock.Sleep(ctx, p.delay()); err != nil {
			return nil, fmt.Errorf("acquire %s: gave up: %w", resource, err)
		}
	}
}

func (p *poller) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.opt.Backoff
	return b.Min + time.Duration(p.dice.Int64N(int64(b.Max-b.Min)+1))
}

// owner draws the id of an owner.
func (p *poller) owner() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var id [16]byte
	_, err := io.ReadFull(p.opt.Entropy, id[:])
	return hex.EncodeToString(id[:]), err
}

// try asks once. The lease is nil if another client has the lock.
func (p *poller) try(ctx context.Context, resource string) (lock.Lease, error) {
	owner, err := p.owner()
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
