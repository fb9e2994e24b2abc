// Command gocron has the lock of go-co-op/gocron over Redis, with which its scheduler runs a job once.
package main

import (
	"context"
	_ "embed"
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
		fence = "None: the value of a key is random."
		apart = "The scheduler: the test calls its Locker as the scheduler does, which runs a job while it has the lock."

		misuse = "the context of Unlock has ended when it is called"
	)
	says := []libraries.Sentence{{
		Text: "The lock is held for the duration of the job's run […]", Where: "doc comment of gocron.Locker",
		Module: "github.com/go-co-op/gocron/v2", File: "distributed.go",
	}}
	libraries.Main(libraries.Library{
		Name: "gocron", Module: "github.com/go-co-op/gocron-redis-lock/v2",
		Source: "https://github.com/go-co-op/gocron-redis-lock",
		Findings: []libraries.Finding{
			{
				ID:     "gocron-799",
				Status: libraries.Known,
				Where:  "redislock.go:83",
				Link:   "https://github.com/go-co-op/gocron/issues/799",
				What: "Without WithAutoExtendDuration nothing renews the lock of a job, and it ends after 8 s: a job that " +
					"takes longer runs twice at once.",
				Shows: []libraries.Shown{{Lock: "gocron", Source: longJob}},
			},
			{
				ID:     "gocron-extend",
				Status: libraries.NotKnown,
				Where:  "redislock.go:129",
				What: "The renewals of WithAutoExtendDuration end with the first one that fails, after the retries of its " +
					"client. The lock then ends during the job, which is not told.",
				Draft: "gocron-extend.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: of("gocron", false, redislock.WithRedsyncOptions(redislock.WithTries(1))),
				Is:   "a lease by a key of Redis that ends after 8 s.",
				Why: map[string][]string{"none": {"gocron-799"}, "process": {"gocron-799"}, "power": {"gocron-799"},
					"network": {"gocron-799"}},
				Options: "WithTries(1), as its README has it, and the default length of 8 s, which nothing renews: a job is " +
					"judged for as long as that.",
				Says: says, Fence: fence, Untested: apart, Misuse: misuse,
			},
			{
				Lock: of("gocron-hardened", true, redislock.WithRedsyncOptions(redislock.WithTries(1)),
					redislock.WithAutoExtendDuration(2*time.Second)),
				Why: map[string][]string{"network": {"gocron-extend"}},
				Is: "a lease by a key of Redis that is renewed while the job runs. A job is not told when it has lost it: " +
					"its claim lasts until its end.",
				Options: "Hardened: WithAutoExtendDuration(2 s), which renews the lock four times in its length.",
				Says:    says, Fence: fence, Untested: apart, Misuse: misuse,
			},
		},
	})
}

// longJob is a job that takes longer than its lock lasts.
//
//go:embed long-job.yaml
var longJob string

// of is the lock of a job. One that is renewed is held for as long as the job runs, which is not told that it has lost
// it; the other one lasts for its length, and that is what is judged.
func of(name string, renewed bool, options ...redislock.LockerOption) scenarios.Lock {
	p := glue.Held(lock.FaultLatency)
	// a job is not told what it has lost
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f lock.Fault) bool { return f == lock.FaultPause })
	const ttl = 8 * time.Second // the default
	return scenarios.Lock{Name: name, Traits: scenarios.Traits{Promise: p}, New: func(e scenarios.Env) (lock.Locker,
		error) {
		open := sync.OnceValues(func() (gocron.Locker, error) { // it asks the server, and in New the world does not run yet
			return redislock.NewRedisLockerWithOptions(scenarios.RedisClient(e, scenarios.Primary), options...)
		})
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			locks, err := open()
			if err != nil {
				return nil, err
			}
			var l gocron.Lock
			asked, err := glue.Tried(ctx, e, func(ctx context.Context) (err error) {
				l,
					err = locks.Lock(ctx, name)
				return err
			})
			if err != nil {
				return nil, err
			}
			var once sync.Once // a second Unlock panics, and the scheduler makes none
			var unlocked error
			// redsync allows for the drift of clocks
			g := scenarios.Grant{TTL: ttl * 99 / 100, Asked: asked, Unlock: func(ctx context.Context) error {
				once.Do(func() { unlocked = l.Unlock(ctx) })
				return scenarios.Unanswered(unlocked)
			}}
			if renewed {
				g.TTL, g.Until = 0, func() time.Time { return e.Clock().Now().Add(ttl) } // until its end
			}
			return scenarios.NewLease(ctx, e, g), nil
		}), nil
	}}
}
