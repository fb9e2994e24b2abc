package reported

import (
	"context"
	"crypto/rand"
	"time"

	"locksim/lock"
	"locksim/scenarios"
)

// Notified is right, and waits as most people write it: SUBSCRIBE, the channel of go-redis, a look at least each 400
// ms.
func Notified() scenarios.Lock {
	return scenarios.Lock{Name: "notified", Traits: scenarios.Traits{Promise: lock.LeasePromise()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			c := scenarios.RedisClient(e, scenarios.Primary)
			return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
				sub := c.Subscribe(ctx, key+":free")
				defer func() { _ = sub.Close() }()
				for {
					asked, v := time.Now(), rand.Text()
					ok, err := setNX(ctx, c, key, v, ttl)
					if err != nil {
						return nil, scenarios.Unanswered(err)
					}
					if ok {
						free := unlock(c, key, v)
						return scenarios.NewLease(ctx, e, scenarios.Grant{Until: until(asked), Unlock: func(ctx context.Context) error {
							err := free(ctx)
							told, cancel := patient(ctx)
							defer cancel()
							_ = c.Publish(told, key+":free", "1").Err()
							return err
						}}), nil
					}
					select {
					case <-ctx.Done():
						return nil, ctx.Err()
					case <-sub.Channel():
					case <-time.After(400 * time.Millisecond):
					}
				}
			}), nil
		}}
}
