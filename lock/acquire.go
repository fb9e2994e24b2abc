package lock

import (
	"context"
	"errors"
	"fmt"
)

// errLate is the failure of a try whose grant came too late and was given back.
var errLate = errors.New("granted too late, and given back")

// acquire asks for the lock on resource until it is granted, ctx ends, or a request fails.
func (e *engine) acquire(ctx context.Context, resource string) (Lease, error) {
	c, err := e.claim(resource)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", resource, err)
	}
	return e.pursue(ctx, c)
}

// pursue asks for the claim until it is granted, ctx ends, or a request fails.
func (e *engine) pursue(ctx context.Context, c claim) (Lease, error) {
	began := e.opt.Clock.Now()
	w := e.waiter(c)
	defer w.close()
	tries := 0
	err := ended(ctx)
	for ; err == nil; err = w.wait(ctx, tries) {
		tries++
		l, failure := e.try(ctx, c)
		if failure == nil {
			return l, nil
		}
		if !errors.Is(failure, ErrTaken) && !errors.Is(failure, errLate) {
			return nil, fmt.Errorf("acquire %s: %w", c.resource, e.leave(ctx, c, tries-1, failure))
		}
	}
	return nil, fmt.Errorf("acquire %s: gave up after %v and %d tries: %w",
		c.resource, e.opt.Clock.Now().Sub(began), tries, e.leave(ctx, c, tries, err))
}

// leave gives up the place in the queue, if tries have been answered and the kind has a queue, so that no
// turn comes to somebody who has gone (F54). It returns err, with what became of that.
func (e *engine) leave(ctx context.Context, c claim, tries int, err error) error {
	if e.place == 0 || tries == 0 || errors.Is(err, ErrOutcomeUnknown) { // the clean-up has done it
		return err
	}
	if _, failure := e.delete(ctx, c); failure != nil {
		// %v: that the outcome of this one is unknown does not mean that the lock may have been granted
		return fmt.Errorf("%w; its place in the queue may stay for %v: %v", err, e.place, failure) //nolint:errorlint // the failure of the clean-up is told, not offered for errors.Is
	}
	return err
}

// try asks for the lock once. The error is ErrTaken or errLate when the lock may be asked for again.
func (e *engine) try(ctx context.Context, c claim) (*lease, error) {
	sent := e.opt.Clock.Now()
	token, granted, err := e.grant(ctx, c)
	if err != nil {
		return nil, e.failed(ctx, c, outcome(err))
	}
	if !granted {
		return nil, ErrTaken
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
	return errLate
}
