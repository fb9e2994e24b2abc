package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// watchdog is a lock whose leases are renewed every third of their TTL, in parts, each of which a specimen can replace
// by a wrong one. newWatchdog has the right ones.
type watchdog struct {
	opt  Options
	node redis.Cmdable

	// extend asks the node once.
	extend func(ctx context.Context, node redis.Cmdable, c claim, ttl time.Duration) (held bool, err error)
	// answered applies an answer, or its absence, to the lease. sent is when the request was sent. It reports whether
	// to go on renewing.
	answered func(l *lease, sent time.Time, held bool, err error) (goOn bool)
	// keep makes the context of the renewals of a lease, from that of Acquire.
	keep func(ctx context.Context) (context.Context, context.CancelFunc)
	// release gives the claim back; stop ends the renewals.
	release func(ctx context.Context, node redis.Cmdable, c claim, stop func()) error
}

func newWatchdog(node redis.Cmdable, o Options) *watchdog {
	return &watchdog{opt: o, node: node, extend: extendOwn, answered: heed, keep: context.WithCancel,
		release: stopThenDelete}
}

// locker returns the lock. The end of the context of Acquire ends the renewals too: it is the process's.
func (w *watchdog) locker() *poller {
	return newPoller(w.opt, func(ctx context.Context, c claim) (*lease, error) {
		sent := w.opt.Clock.Now()
		granted, err := setNX(ctx, w.node, c, w.opt.TTL)
		if err != nil || !granted {
			return nil, err
		}
		keep, stop := w.keep(ctx)
		l := newLease(ctx, w.opt, c, sent.Add(w.opt.TTL), func(ctx context.Context, c claim) error {
			return w.release(ctx, w.node, c, stop)
		})
		go w.renew(keep, l)
		return l, nil
	})
}

// untilStopped is for renewals that go on when the context of Acquire has ended.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (w *watchdog) renew(ctx context.Context, l *lease) {
	for w.opt.Clock.Sleep(ctx, w.opt.TTL/3) == nil {
		sent := w.opt.Clock.Now()
		held, err := w.extend(ctx, w.node, l.claim, w.opt.TTL)
		if ctx.Err() != nil || !w.answered(l, sent, held, err) {
			return
		}
	}
}

// heed goes on after a success, tries again after an error for as long as the lease may be valid, and otherwise
// notifies the holder.
func heed(l *lease, sent time.Time, held bool, err error) (goOn bool) {
	switch {
	case err == nil && held:
		l.prolong(sent.Add(l.opt.TTL))
		return true
	case err != nil && l.opt.Clock.Now().Before(l.Until()):
		return true
	}
	l.lose()
	return false
}

func stopThenDelete(ctx context.Context, node redis.Cmdable, c claim, stop func()) error {
	stop()
	return deleteOwn(ctx, node, c)
}
