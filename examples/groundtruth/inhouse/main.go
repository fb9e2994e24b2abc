// Command inhouse has locks that applications have written for themselves, anew and in our words, as they were before a
// bug of theirs was mended, and as they are since.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	overRedigo "github.com/go-redsync/redsync/v4/redis/redigo"
	goredis "github.com/redis/go-redis/v9"

	"locksim/examples/groundtruth"
	"locksim/examples/groundtruth/pools"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{
		groundtruth.Form("blnk-354", "before"): balances(func(ctx context.Context) (context.Context, context.CancelFunc) {
			return ctx, func() {}
		}),
		groundtruth.Form("blnk-354", "after"): balances(func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		}),
		groundtruth.Form("ncps-913", "before"): downloads(func(ctx context.Context) context.Context { return ctx }),
		groundtruth.Form("ncps-913", "after"):  downloads(context.WithoutCancel),
	})
}

const (
	ttl   = 8 * time.Second
	pause = 100 * time.Millisecond
)

var (
	deleteOwn = goredis.NewScript(
		`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`)
	errHeld = errors.New("the lock expired, or another has it")
)

// balances is the lock of a balance: SET NX with a TTL, and a script that compares and deletes, under the context that
// release makes of that of the request.
func balances(release func(ctx context.Context) (context.Context, context.CancelFunc)) scenarios.Lock {
	return scenarios.Lock{New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			value := rand.Text()
			var asked time.Time
			if err := scenarios.Retry(ctx, e.Clock(), pause, func(ctx context.Context) (bool, error) {
				asked = e.Clock().Now()
				return client.SetNX(ctx, name, value, ttl).Result()
			}); err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{TTL: ttl, Asked: asked, Unlock: func(ctx context.Context) error {
				ctx, cancel := release(ctx)
				defer cancel()
				n, err := deleteOwn.Run(ctx, client, []string{name}, value).Int()
				if err == nil && n == 0 {
					err = errHeld
				}
				return scenarios.NotHeld(err, errHeld)
			}}), nil
		}), nil
	}}
}

// downloads is the lock of a download: redsync with one try at a time, whose release is told to nobody if it fails,
// under the context that release makes of that of the request.
func downloads(release func(ctx context.Context) context.Context) scenarios.Lock {
	return scenarios.Lock{New: func(e scenarios.Env) (lock.Locker, error) {
		locks := redsync.New(overRedigo.NewPool(pools.Redigo(e, scenarios.Primary)))
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			var held *redsync.Mutex
			if err := scenarios.Retry(ctx, e.Clock(), pause, func(ctx context.Context) (bool, error) {
				held = locks.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithTries(1))
				err := held.LockContext(ctx)
				if taken := new(redsync.ErrTaken); errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
					return false, ctx.Err()
				}
				return err == nil, err
			}); err != nil {
				return nil, scenarios.Unanswered(fmt.Errorf("acquire %s: %w", name, err))
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{Until: held.Until, Unlock: func(ctx context.Context) error {
				_, _ = held.UnlockContext(release(ctx))
				return nil // as it is there: the key will expire
			}}), nil
		}), nil
	}}
}
