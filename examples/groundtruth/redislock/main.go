// Command redislock has the locks of bsm/redislock.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"reflect"
	"time"

	"github.com/bsm/redislock"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	every := func() redislock.RetryStrategy { return redislock.LinearBackoff(100 * time.Millisecond) }
	again := of(func() string { return rand.Text() }, every)
	grows := of(func() string { return "" },
		func() redislock.RetryStrategy { return redislock.ExponentialBackoff(16*time.Millisecond, longest) })
	grows.Pause = longest
	plain := of(func() string { return "" }, every)
	groundtruth.Main(map[string]scenarios.Lock{"redislock-71": again, "redislock-token": again, "redislock-58": grows,
		"redislock-64": plain, "redislock-79": plain})
}

// longest is the longest pause of a backoff that grows.
const longest = 512 * time.Millisecond

// of is redislock with a token for each process, and a backoff; with the token "" the library draws one for each lock.
// How long a lease lasts it tells when it is asked.
func of(token func() string, backoff func() redislock.RetryStrategy) scenarios.Lock {
	const ttl = 8 * time.Second
	return scenarios.Lock{New: func(e scenarios.Env) (lock.Locker, error) {
		locks, mine := redislock.New(scenarios.RedisClient(e, scenarios.Primary)), token()
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			waits, stop := context.WithTimeout(ctx, time.Hour) // else the library waits for a TTL only
			defer stop()
			o := redislock.Options{RetryStrategy: backoff()}
			if mine != "" { // the oldest version has no such field
				reflect.ValueOf(&o).Elem().FieldByName("Token").SetString(mine)
			}
			l, err := locks.Obtain(waits, name, ttl, &o)
			if err != nil {
				return nil, scenarios.Unanswered(ended(waits, err))
			}
			now := time.Now()
			left, err := l.TTL(ctx)
			if err != nil {
				return nil, scenarios.Unanswered(errors.Join(ended(ctx, err), l.Release(context.WithoutCancel(ctx))))
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				TTL: ttl, Asked: now.Add(left - ttl),
				Unlock: func(ctx context.Context) error { // not under a context that has ended, as its documentation has it
					return scenarios.NotHeld(l.Release(context.WithoutCancel(ctx)), redislock.ErrLockNotHeld)
				},
				Extend: func(ctx context.Context) error {
					return scenarios.NotHeld(l.Refresh(ctx, ttl, nil), redislock.ErrNotObtained)
				},
			}), nil
		}), nil
	}}
}

// ended is the error of a request whose context may have ended: go-redis has its deadline as that of a connection.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.Join(err, ctx.Err())
	}
	return err
}
