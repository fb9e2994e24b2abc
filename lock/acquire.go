package lock

import (
	"context"
	"errors"
	"fmt"
)

// errLate is the failure of a try whose grant arrived too late and was given back.
var errLate = errors.New("granted too late, and given back")

// acquire asks for the lock on resource until it is granted, ctx ends, or a request fails.
func (e *engine) acquire(ctx context.Context, resource string) (Lease, error) {
	c, err := e.claim(resource)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", resource, err)
	}
	return e.acquireClaim(ctx, c)
}

// acquireClaim asks for the claim until it is granted, ctx ends, or a request fails.
func (e *engine) acquireClaim(ctx context.Context, c claim) (Lease, error) {
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

// leave removes the claim from the queue, if tries have been answered and the kind has a queue, so that the lock is not
// granted to a client that has given up (F54). It returns err, and adds its own failure.
func (e *engine) leave(ctx context.Context, c claim, tries int, err error) error {
	if e.queueTTL == 0 || tries == 0 || errors.Is(err, ErrOutcomeUnknown) { // the clean-up has done it
		return err
	}
	if _, failure := e.delete(ctx, c); failure != nil {
		// %v: an unknown outcome of this request does not mean that the lock may have been granted
		return fmt.Errorf("%w; its place in the queue may stay for %v: %v", err, e.queueTTL, failure) //nolint:errorlint // the failure of the clean-up is for reading, not for errors.Is
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

// failed returns the error of a request for the lock, after it has removed what the request may have left on the node.
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

// giveBack deletes a grant that arrived too late: after the end of its validity, or of the caller's context.
func (e *engine) giveBack(ctx context.Context, c claim) error {
	if _, err := e.delete(ctx, c); err != nil {
		return fmt.Errorf("granted too late, and giving it back failed, so nobody may get the lock for %v: %w", e.opt.TTL, err)
	}
	return errLate
}

// A Trier is a [Locker] that can also ask without waiting. All kinds are. It is found by type
// assertion:
//
//	lease, err := locks.(lock.Trier).TryAcquire(ctx, "order:42")
//	if errors.Is(err, lock.ErrTaken) {
//		return nil // another client holds it
//	}
type Trier interface {
	// TryAcquire asks for the lock on resource once. Its error wraps [ErrTaken] when another owner holds it; otherwise
	// it fails as Acquire does. The caller releases the lease.
	TryAcquire(ctx context.Context, resource string) (Lease, error)
}

// TryAcquire implements [Trier].
func (l *Single) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.tryAcquire(ctx, resource)
}

// TryAcquire implements [Trier].
func (l *Fenced) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.tryAcquire(ctx, resource)
}

// tryAcquire asks for the lock on resource once.
func (e *engine) tryAcquire(ctx context.Context, resource string) (Lease, error) {
	c, err := e.claim(resource)
	if err != nil {
		return nil, fmt.Errorf("try to acquire %q: %w", resource, err)
	}
	return e.tryOnce(ctx, c)
}

// tryOnce asks for the claim once.
func (e *engine) tryOnce(ctx context.Context, c claim) (Lease, error) {
	c.once = true
	err := ended(ctx)
	if err == nil {
		var l *lease
		if l, err = e.try(ctx, c); err == nil {
			return l, nil
		}
	}
	if over := ended(ctx); over != nil && errors.Is(err, errLate) {
		err = over
	}
	return nil, fmt.Errorf("try to acquire %s: %w", c.resource, err)
}
