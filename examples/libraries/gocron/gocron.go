// Command gocron has the lock of go-co-op/gocron over Redis, with which its scheduler runs a job once.
package main

import (
	"context"
	"slices"
	"sync"
	"time"

	redislock "github.com/go-co-op/gocron-redis-lock/v2"
	"github.com/go-co-op/gocron/v2"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	const (
		quote = "The lock is held for the duration of the job's run, and it is expected that the locker implementation handles time splay between schedulers."
		where = "doc comment of gocron.Locker"
		fence = "None: the value of a key is random."
		apart = "The scheduler: the test calls its Locker as the scheduler does, which runs a job while it has the lock."
	)
	libraries.Main(libraries.Library{
		Name: "gocron", Module: "github.com/go-co-op/gocron-redis-lock/v2", Source: "https://github.com/go-co-op/gocron-redis-lock",
		Findings: []libraries.Finding{
			{
				ID:     "gocron-799",
				Status: libraries.Known,
				Where:  "redislock.go:83",
				Link:   "https://github.com/go-co-op/gocron/issues/799",
				What:   "Without WithAutoExtendDuration nothing renews the lock of a job, and it ends after 8 s: a job that takes longer runs twice at once.",
			},
			{
				ID:     "gocron-extend",
				Status: libraries.NotKnown,
				Where:  "redislock.go:129",
				What:   "The renewals of WithAutoExtendDuration end with the first one that fails, after the retries of its client. The lock then ends during the job, which is not told.",
				Draft:  "gocron-extend.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock:    of("gocron", redislock.WithRedsyncOptions(redislock.WithTries(1))),
				Why:     map[string][]string{"none": {"gocron-799"}, "process": {"gocron-799"}, "network": {"gocron-799"}},
				Options: "WithTries(1), as its README has it, and the default length of 8 s, which nothing renews.",
				Quote:   quote, Where: where, Fence: fence, Untested: apart,
			},
			{
				Lock:    of("gocron-hardened", redislock.WithRedsyncOptions(redislock.WithTries(1)), redislock.WithAutoExtendDuration(2*time.Second)),
				Why:     map[string][]string{"network": {"gocron-extend"}},
				Options: "Hardened: WithAutoExtendDuration(2 s), which renews the lock four times in its length.",
				Quote:   quote, Where: where, Fence: fence, Untested: apart,
			},
		},
	})
}

// of is the lock that a job has for as long as it runs. It does not say when it is lost.
func of(name string, options ...redislock.LockerOption) scenarios.Lock {
	p := glue.Held(lock.FaultLatency)
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f lock.Fault) bool { return f == lock.FaultPause }) // a job is not told what it has lost
	return scenarios.Lock{Name: name, Lease: scenarios.LeaseHeld, Detection: time.Second, Promise: p, New: func(e scenarios.Env) (lock.Locker, error) {
		open := sync.OnceValues(func() (gocron.Locker, error) { // it asks the server, and in New the world does not run yet
			return redislock.NewRedisLockerWithOptions(scenarios.RedisClient(e, scenarios.Primary), options...)
		})
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			locks, err := open()
			if err != nil {
				return nil, err
			}
			var l gocron.Lock
			if _, err := glue.Tried(ctx, e, func(ctx context.Context) (err error) { l, err = locks.Lock(ctx, name); return err }); err != nil {
				return nil, err
			}
			unlock := sync.OnceValue(func() error { return l.Unlock(context.WithoutCancel(ctx)) }) // a second Unlock panics, and the scheduler makes none
			return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(context.Context) error { return scenarios.Unanswered(unlock()) }}), nil
		}), nil
	}}
}
