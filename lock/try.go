package lock

import (
	"context"
	"errors"
	"fmt"
)

// A Trier is a [Locker] that can also ask without waiting. All kinds are. It is found by type
// assertion:
//
//	lease, err := locks.(lock.Trier).TryAcquire(ctx, "order:42")
//	if errors.Is(err, lock.ErrTaken) {
//		return nil // somebody else is at it
//	}
type Trier interface {
	// TryAcquire asks for the lock on resource once. Its error wraps [ErrTaken] when somebody else holds
	// it; otherwise it fails as Acquire does. The lease is the caller's to release.
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
