package testlocks

import (
	"context"
	"math/rand/v2"
	"time"

	"locksim/lock"
)

// Hasty is a lock with one draw from a source that nobody can seed: before each
// Acquire it waits for a random while.
func Hasty(l lock.Locker, clock lock.Clock) lock.Locker { return hasty{l, clock} }

type hasty struct {
	lock.Locker
	clock lock.Clock
}

func (h hasty) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if err := h.clock.Sleep(ctx, time.Duration(rand.Int64N(int64(time.Millisecond)))); err != nil {
		return nil, err
	}
	return h.Locker.Acquire(ctx, resource)
}
