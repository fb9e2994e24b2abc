// Command rueidislock has the locks of rueidislock. It draws random numbers, dials and reads clocks by itself.
package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	const byDefault, longer = 5 * time.Second, 10 * time.Second
	tries := of(true, byDefault, again)
	tries.Pause = byDefault / 2 // after a try that failed it says for so long that the lock is taken, without asking
	groundtruth.Main(map[string]scenarios.Lock{
		"rueidislock-clock": of(false, longer, wait), "rueidislock-923": of(true, longer, wait), "rueidislock-301": tries,
	})
}

// of is rueidislock over one key. Where relative is set, the request that takes a key has a TTL in place of an instant.
// Its renewals, which come twice in a lease, detect a loss.
func of(relative bool, ttl time.Duration, had call) scenarios.Lock {
	return scenarios.Lock{Traits: scenarios.Traits{Lease: scenarios.LeaseHeld, Detection: ttl/2 + time.Second},
		New: func(e scenarios.Env) (lock.Locker, error) {
			open := sync.OnceValues(func() (rueidislock.Locker, error) { // it dials, and in New the world does not run yet
				l, err := rueidislock.NewLocker(rueidislock.LockerOption{
					ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true,
						AlwaysRESP2: true},
					KeyMajority: 1, KeyValidity: ttl, TryNextAfter: 100 * time.Millisecond, FallbackSETPX: relative,
				})
				if err == nil {
					e.OnEnd(l.Close)
				}
				return l, err
			})
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				l, err := open()
				if err == nil {
					err = ctx.Err() // it may have ended meanwhile
				}
				if err != nil {
					return nil, err
				}
				lease, err := scenarios.Within(ctx, e, func(ctx context.Context) (context.Context, func(), error) {
					return had(ctx, e, l, name)
				})
				return lease, scenarios.Unanswered(err)
			}), nil
		}}
}

// call is a way to ask for the lock.
type call func(ctx context.Context, e scenarios.Env, l rueidislock.Locker, name string) (held context.Context,
	release func(), err error)

func wait(ctx context.Context, _ scenarios.Env, l rueidislock.Locker, name string) (context.Context, func(), error) {
	return l.WithContext(ctx, name)
}

// again calls TryWithContext until it succeeds.
func again(ctx context.Context, e scenarios.Env, l rueidislock.Locker,
	name string) (held context.Context, release func(), err error) {
	err = scenarios.Retry(ctx, e.Clock(), 200*time.Millisecond, func(ctx context.Context) (bool, error) {
		held, release, err = l.TryWithContext(ctx, name)
		if errors.Is(err, rueidislock.ErrNotLocked) {
			return false, nil
		}
		return err == nil, err
	})
	return held, release, err
}
