package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// renewedLease is a lease that is renewed. It ends before the inner lease, at the deadline, and at MaxHold.
type renewedLease struct {
	*lifetime
	watchdog *Watchdog
	resource string
	inner    Lease
	extender Extender
	maxUntil time.Time // when MaxHold is over; zero: never
}

func newRenewedLease(ctx context.Context, w *Watchdog, resource string, inner Lease, extender Extender, now time.Time) *renewedLease {
	l := &renewedLease{watchdog: w, resource: resource, inner: inner, extender: extender}
	if w.opt.MaxHold > 0 {
		l.maxUntil = now.Add(w.opt.MaxHold)
	}
	l.lifetime = newLifetime(ctx, w.opt.Clock, l.deadline())
	context.AfterFunc(inner.Context(), l.lose) // the inner lease may notice its loss itself
	go l.renewLoop(holderOf(ctx))
	return l
}

func (l *renewedLease) Token() uint64 { return l.inner.Token() }

// Extend implements [Extender]: it renews the lease at once. The next renewal follows an interval later.
func (l *renewedLease) Extend(ctx context.Context) error {
	if _, over := l.left(); over {
		return fmt.Errorf("extend %s: %w: the lease had ended before", l.resource, ErrNotHeld)
	}
	err := l.extender.Extend(ctx)
	switch {
	case errors.Is(err, ErrNotHeld):
		l.lose()
	case err == nil && !l.prolong(l.deadline()):
		return fmt.Errorf("extend %s: %w: the lease ended before the answer came", l.resource, ErrNotHeld)
	}
	return err
}

// Release gives the lock back, as the inner lease does, and ends the renewals first.
func (l *renewedLease) Release(ctx context.Context) error {
	l.finish(nil)
	return l.inner.Release(ctx)
}

// deadline is the end of the lifetime by the last acknowledged request.
func (l *renewedLease) deadline() time.Time {
	until := l.watchdog.deadline(l.inner)
	if !l.maxUntil.IsZero() && until.After(l.maxUntil) {
		return l.maxUntil
	}
	return until
}

// due is when the next renewal is to be sent: an interval after the sending of the last successful one, by the watchdog
// or by Extend, which was a TTL before the end of the inner lease.
func (l *renewedLease) due() time.Time {
	return l.inner.Until().Add(l.watchdog.opt.Interval - l.watchdog.opt.TTL)
}

// renewLoop renews the lease until it, or the holder, has ended, or it lasts until MaxHold. A failed renewal is sent
// again until the end of the lease (F35).
func (l *renewedLease) renewLoop(holder context.Context) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	defer context.AfterFunc(holder, cancel)()

	next := l.due()
	for l.sleepUntil(ctx, next) && ended(holder) == nil && !l.reachesMax() {
		sent := l.clock.Now()
		if sent.Before(l.due()) { // Extend was called
			next = l.due()
			continue
		}
		next = sent.Add(l.watchdog.opt.Retry)
		if l.renew(ctx) == nil {
			next = l.due()
		}
	}
}

// sleepUntil reports whether ctx has not ended before then.
func (l *renewedLease) sleepUntil(ctx context.Context, then time.Time) bool {
	err := l.clock.Sleep(ctx, then.Sub(l.clock.Now()))
	return err == nil && ended(ctx) == nil
}

// reachesMax reports whether the lease already lasts until MaxHold.
func (l *renewedLease) reachesMax() bool { return l.deadline().Equal(l.maxUntil) }

// renew sends one renewal, and waits for the answer for as long as it is of use.
func (l *renewedLease) renew(ctx context.Context) error {
	left, over := l.left()
	if over {
		return ErrNotHeld
	}
	ctx, cancel := within(ctx, min(left, l.watchdog.opt.Retry))
	defer cancel()
	return l.Extend(ctx)
}
