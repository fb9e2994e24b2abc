// Command redislock has the locks of bsm/redislock.
package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/bsm/redislock"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{
		"redislock-71": of(func() string { return rand.Text() }),
		"redislock-58": of(func() string { return "" }),
	})
}

// of is redislock with a token for each process; "" leaves it to the library to draw one for each lock.
func of(token func() string) scenarios.Lock {
	const ttl = 8 * time.Second
	return scenarios.Lock{New: func(e scenarios.Env) (lock.Locker, error) {
		locks, mine := redislock.New(scenarios.RedisClient(e, scenarios.Primary)), token()
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			var l *redislock.Lock
			var until time.Time
			if err := scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(ctx context.Context) (ok bool, err error) {
				until = time.Now().Add(ttl)
				l, err = locks.Obtain(ctx, name, ttl, &redislock.Options{Token: mine})
				if err == redislock.ErrNotObtained {
					return false, nil
				}
				return err == nil, err
			}); err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				Until: func() time.Time { return until },
				Unlock: func(ctx context.Context) error { // not under a context that has ended, as its documentation has it
					return scenarios.NotHeld(l.Release(context.WithoutCancel(ctx)), redislock.ErrLockNotHeld)
				},
				Extend: func(ctx context.Context) error {
					asked := time.Now()
					err := scenarios.NotHeld(l.Refresh(ctx, ttl, nil), redislock.ErrNotObtained)
					if err == nil {
						until = asked.Add(ttl)
					}
					return err
				},
			}), nil
		}), nil
	}}
}
