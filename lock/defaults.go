package lock

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"locksim/lock/promise"
)

// This file has everything in the package that uses the machine's clock and its randomness.

// The values that a zero field of [Options] stands for.
const (
	// DefaultTTL is long compared with a usual garbage collection, a slow request or a short network fault, so that a
	// holder does not lose its lease to them, and short enough that after a crash of the holder others wait for
	// seconds, not for minutes.
	DefaultTTL = 10 * time.Second

	// DefaultBackoffMin is some tens of round trips: a waiter costs the node at most 20 requests a second.
	DefaultBackoffMin = 50 * time.Millisecond

	// DefaultBackoffMax bounds how long a waiter does not notice that the lock is free.
	DefaultBackoffMax = 200 * time.Millisecond

	// DefaultReleaseTimeout is a fraction of DefaultTTL: after the TTL a release has no effect.
	DefaultReleaseTimeout = promise.ReleaseTimeout

	// DefaultKeyPrefix starts every key.
	DefaultKeyPrefix = "lock:"
)

func defaultClock() Clock { return systemClock{} }

func defaultEntropy() io.Reader { return rand.Reader }

// systemClock is the machine's clock. Its readings are monotonic.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ended(ctx)
}

func (systemClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// ended is ctx.Err, except that a deadline counts from its instant on, not only once the context's own timer has run:
// the behaviour of a lock must not depend on which of two timers of one instant fires first.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// detached returns a context with the values of ctx that ends after d, independently of ctx. It uses the machine's
// clock, as the deadlines of sockets do.
func detached(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

// within returns ctx with a timeout of d. It uses the machine's clock, as detached does.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}
