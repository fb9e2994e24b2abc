package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// watched is a lease that is renewed. Its life is shorter than that of the inner lease: it ends at the
// deadline, before that one does, and it ends at MaxHold.
type watched struct {
	*life
	dog      *Watchdog
	resource string
	inner    Lease
	extender Extender
	last     time.Time // when MaxHold is over; zero: never
}

func newWatched(ctx context.Context, w *Watchdog, resource string, inner Lease, extender Extender, now time.Time) *watched {
	l := &watched{dog: w, resource: resource, inner: inner, extender: extender}
	if w.opt.MaxHold > 0 {
		l.last = now.Add(w.opt.MaxHold)
	}
	l.life = newLife(ctx, w.opt.Clock, l.deadline())
	context.AfterFunc(inner.Context(), l.lose) // a lease may learn of its loss by itself
	go l.keep(holderOf(ctx))
	return l
}

func (l *watched) Token() uint64 { return l.inner.Token() }

// Extend implements [Extender]: it renews the lease at once. The next renewal follows an interval later.
func (l *watched) Extend(ctx context.Context) error {
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
func (l *watched) Release(ctx context.Context) error {
	l.finish(nil)
	return l.inner.Release(ctx)
}

// deadline is the end of the life that the last acknowledged request has brought.
func (l *watched) deadline() time.Time {
	until := l.dog.deadline(l.inner)
	if !l.last.IsZero() && until.After(l.last) {
		return l.last
	}
	return until
}

// due is when the next renewal is to be sent: an interval after the sending of the last one that worked,
// whoever sent it, which was a TTL before the end of the inner lease.
func (l *watched) due() time.Time {
	return l.inner.Until().Add(l.dog.opt.Interval - l.dog.opt.TTL)
}

// keep renews the lease until it, or the holder, has ended, or it lasts as long as it may. Whether a
// renewal failed for good shows in the end of the lease; until then it is sent again (F35).
func (l *watched) keep(holder context.Context) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	defer context.AfterFunc(holder, cancel)()

	next := l.due()
	for l.sleepUntil(ctx, next) && ended(holder) == nil && !l.isLast() {
		sent := l.clock.Now()
		if sent.Before(l.due()) { // somebody has called Extend
			next = l.due()
			continue
		}
		next = sent.Add(l.dog.opt.Retry)
		if l.renew(ctx) == nil {
			next = l.due()
		}
	}
}

// sleepUntil reports whether ctx has not ended until then.
func (l *watched) sleepUntil(ctx context.Context, then time.Time) bool {
	err := l.clock.Sleep(ctx, then.Sub(l.clock.Now()))
	return err == nil && ended(ctx) == nil
}

// isLast reports whether the lease already lasts as long as it may.
func (l *watched) isLast() bool { return l.deadline().Equal(l.last) }

// renew sends one renewal, and waits for the answer for as long as that is of use.
func (l *watched) renew(ctx context.Context) error {
	left, over := l.left()
	if over {
		return ErrNotHeld
	}
	ctx, cancel := within(ctx, min(left, l.dog.opt.Retry))
	defer cancel()
	return l.Extend(ctx)
}
