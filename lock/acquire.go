package lock

import (
	"context"
	"errors"
	"fmt"
)

// acquire asks for the lock until it is granted, ctx ends, or a request fails.
func (e *engine) acquire(ctx context.Context, resource string) (Lease, error) {
	c, err := e.claim(resource)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", resource, err)
	}
	began := e.opt.Clock.Now()
	tries := 0
	for err = ended(ctx); err == nil; err = e.wait(ctx, tries) {
		tries++
		l, failure := e.try(ctx, c)
		if failure != nil {
			return nil, fmt.Errorf("acquire %s: %w", resource, failure)
		}
		if l != nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("acquire %s: gave up after %v and %d tries: %w",
		resource, e.opt.Clock.Now().Sub(began), tries, err)
}

// try asks for the lock once. It returns nil and no error when the lock is to be asked for again.
func (e *engine) try(ctx context.Context, c claim) (*lease, error) {
	sent := e.opt.Clock.Now()
	token, granted, err := e.grant(ctx, c)
	if err != nil {
		return nil, e.failed(ctx, c, outcome(err))
	}
	if !granted {
		return nil, nil
	}
	until := sent.Add(e.opt.TTL)
	if ended(ctx) == nil && e.opt.Clock.Now().Before(until) {
		return newLease(ctx, e, c, token, until), nil
	}
	return nil, e.giveBack(ctx, c)
}

// failed returns the error of a request for the lock, after it has removed what the request may have left.
func (e *engine) failed(ctx context.Context, c claim, err error) error {
	if over := ended(ctx); over != nil && !errors.Is(err, over) {
		err = fmt.Errorf("%w, %w", over, err)
	}
	if !errors.Is(err, ErrOutcomeUnknown) {
		return err
	}
	if _, failure := e.delete(ctx, c); failure != nil {
		return fmt.Errorf("%w; the clean-up failed too, so nobody may get the lock for %v: %w", err, e.opt.TTL, failure)
	}
	return err
}

// giveBack deletes a grant that came too late: its validity was over, or the caller had gone.
func (e *engine) giveBack(ctx context.Context, c claim) error {
	if _, err := e.delete(ctx, c); err != nil {
		return fmt.Errorf("granted too late, and giving it back failed, so nobody may get the lock for %v: %w", e.opt.TTL, err)
	}
	return nil
}
