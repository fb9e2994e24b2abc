// Command rueidislock has the locks of rueidislock. It draws random numbers, dials and reads clocks by itself.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{"rueidislock-clock": of(false), "rueidislock-923": of(true)})
}

// of is rueidislock over one key. Where relative is set, the request that takes a key has a TTL in place of an instant.
// Its renewals, which come twice in a lease, detect a loss.
func of(relative bool) scenarios.Lock {
	const ttl = 10 * time.Second
	return scenarios.Lock{Lease: scenarios.LeaseHeld, Detection: ttl/2 + time.Second, New: func(e scenarios.Env) (lock.Locker, error) {
		open := sync.OnceValues(func() (rueidislock.Locker, error) { // it dials, and in New the world does not run yet
			l, err := rueidislock.NewLocker(rueidislock.LockerOption{
				ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true, AlwaysRESP2: true},
				KeyMajority:  1, KeyValidity: ttl, TryNextAfter: 100 * time.Millisecond, FallbackSETPX: relative,
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
				return l.WithContext(ctx, name)
			})
			return lease, scenarios.Unanswered(err)
		}), nil
	}}
}
