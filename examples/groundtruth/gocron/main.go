//go:build ignore

// Command gocron has the lock of go-co-op/gocron over Redis, with which its scheduler runs a job.
package main

import (
	"context"
	"sync"
	"time"

	redislock "github.com/go-co-op/gocron-redis-lock/v2"
	"github.com/go-co-op/gocron/v2"
	"github.com/go-redsync/redsync/v4"

	"locksim/examples/groundtruth"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{"gocron-799": of(), "gocron-841": of(redislock.WithExpiry(time.Hour))})
}

// of is the lock that a job has for as long as it runs. It tries once, as its documentation has it.
func of(more ...redsync.Option) scenarios.Lock {
	return scenarios.Lock{Traits: scenarios.Traits{Lease: scenarios.LeaseHeld, Detection: time.Hour},
		New: func(e scenarios.Env) (lock.Locker,
			error) {
			open := sync.OnceValue(func() gocron.Locker { // it asks the server, and in New the world does not run yet
				l, _ := redislock.NewRedisLockerAlways(scenarios.RedisClient(e, scenarios.Primary),
					append(more, redislock.WithTries(1))...)
				return l
			})
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				var l gocron.Lock
				if _, err := glue.Tried(ctx, e, func(ctx context.Context) (err error) {
					l,
						err = open().Lock(ctx, name)
					return err
				}); err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(ctx context.Context) error {
					return scenarios.Unanswered(l.Unlock(context.WithoutCancel(ctx)))
				}}), nil
			}), nil
		}}
}
