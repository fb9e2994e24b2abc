package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Watchdog is a lock whose leases are renewed for as long as they are held, so that the TTL need not be longer than the
// work. It wraps any [Locker] whose leases are Extenders: a [Single], a [Fenced], a [Redlock], the result of a
// reentrant lock's As, and others. It is safe for concurrent use.
//
// A goroutine per lease renews it every third of its TTL. A failed renewal is sent again, until a deadline before the
// end of the last acknowledged one. Then Lost is closed and the lease's context is cancelled: the holder is notified
// while the key still exists, and has WatchdogOptions.Margin to stop before another client can enter. When a renewal
// finds the key gone or another's, the holder is notified at once; the key is not created again. The lock client of
// Kubernetes leader election has the same three durations: LeaseDuration is the TTL, RenewDeadline the TTL less the
// margin, RetryPeriod is Retry.
//
// Renewals end, and no goroutine is left,
//
//   - with Release, which gives the lock back;
//   - with the loss of the lease;
//   - with the holder: the context that [WithHolder] names. The lease then ends at Until, with a loss. It
//     is not released, since it is not known whether the work has stopped (F69);
//   - after WatchdogOptions.MaxHold, when the lease ends in the same way;
//   - with the process. Others get the lock when the TTL has passed.
//
// A renewal that is in flight then ends within WatchdogOptions.Retry. The context of Acquire bounds the wait, as for
// every Locker, and is not the holder: it usually has a deadline. A lease without holder and MaxHold, whose worker has
// ended without a Release, is renewed until the process ends (F36).
//
// Renewals do not help against operations of the holder that arrive late because of a pause or the network: see
// [Fenced] (F11, F13).
type Watchdog struct {
	inner Locker
	opt   WatchdogOptions
}

// NewWatchdog returns a lock that renews the leases of inner, or an error that says which option is wrong.
func NewWatchdog(inner Locker, o WatchdogOptions) (*Watchdog, error) {
	if inner == nil {
		return nil, errors.New("make a watchdog: no lock to watch")
	}
	o = o.withTiming(inner)
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make a watchdog: %w", err)
	}
	return &Watchdog{inner: inner, opt: o.withDefaults()}, nil
}

// Acquire implements [Locker]. It fails as that of the inner lock does. A lease that arrives after its deadline is
// given back, and requested again.
func (w *Watchdog) Acquire(ctx context.Context, resource string) (Lease, error) {
	for {
		inner, err := w.inner.Acquire(ctx, resource)
		if err != nil {
			return nil, err
		}
		lease, err := w.startRenewals(ctx, resource, inner)
		if !errors.Is(err, errLate) {
			return lease, wrapAcquire(resource, err)
		}
	}
}

// TryAcquire implements [Trier]. Its error wraps [errors.ErrUnsupported] where the inner lock is none.
func (w *Watchdog) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	trier, ok := w.inner.(Trier)
	if !ok {
		return nil, fmt.Errorf("try to acquire %s: %T cannot try: %w", resource, w.inner, errors.ErrUnsupported)
	}
	inner, err := trier.TryAcquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	lease, err := w.startRenewals(ctx, resource, inner)
	return lease, wrapAcquire(resource, err)
}

// startRenewals starts to renew a lease. It gives a lease back that it cannot renew.
func (w *Watchdog) startRenewals(ctx context.Context, resource string, inner Lease) (Lease, error) {
	now := w.opt.Clock.Now()
	extender, ok := inner.(Extender)
	if late := !w.deadline(inner).After(now); ok && !late {
		return newRenewedLease(ctx, w, resource, inner, extender, now), nil
	}
	err := errLate
	if !ok {
		err = fmt.Errorf("a %T cannot be extended: %w", inner, errors.ErrUnsupported)
	}
	if failure := inner.Release(ctx); failure != nil && !errors.Is(failure, ErrNotHeld) {
		return nil, fmt.Errorf("give back what cannot be renewed in time: %w", failure)
	}
	return nil, err
}

// deadline is when the holder is notified of the end of a lease, unless it is renewed.
func (w *Watchdog) deadline(inner Lease) time.Time { return inner.Until().Add(-w.opt.Margin) }

func wrapAcquire(resource string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("acquire %s: %w", resource, err)
}
