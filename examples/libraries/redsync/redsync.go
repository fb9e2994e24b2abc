// Command redsync has the locks of go-redsync/redsync, over one Redis server and over five.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

const (
	is     = "a lease by a key of Redis that ends, which its holder counts by its own clock."
	of5    = "a lease by a key on most of five servers of Redis, which its holder counts by its own clock: Redlock."
	fence  = "None: the value of a lock is random, and no larger than that of the lock before."
	misuse = "the context of UnlockContext has ended when it is called, or it is called again after it has failed"
)

func main() {
	says := []libraries.Sentence{{
		Text:  "After this is successful, no one else can obtain the same lock (the same mutex name) until we unlock it.",
		Where: "README, Usage", File: "README.md",
	}}
	libraries.Main(libraries.Library{
		Name: "redsync", Module: "github.com/go-redsync/redsync/v4", Source: "https://github.com/go-redsync/redsync",
		Findings: []libraries.Finding{
			{
				ID:     "redsync-late",
				Status: libraries.NotKnown,
				Where:  "mutex.go:80, 110, 121",
				What: "All tries of a Lock have one value. The clean-up of a try that failed, late on a connection that was " +
					"given up, deletes the key of the next try, and another client gets the lock.",
				Draft: "redsync-late.md",
			},
			{
				ID:     "redsync-140",
				Status: libraries.Known,
				Where:  "mutex.go:142",
				Link:   "https://github.com/go-redsync/redsync/issues/140",
				What: "Unlock and Extend wait for all servers, without a limit of their own: one that does not answer keeps a " +
					"release waiting, although a majority has answered. WithFailFast is for that.",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: of("redsync", 1),
				Why:  map[string][]string{"network": {"redsync-late"}},
				Is:   is,
				Options: "One server, NewMutex(name) with nothing set: leases of 8 s, 32 tries. Its user counts the lease by " +
					"Until, and calls Lock again when all tries failed.",
				Says: says, Fence: fence, Misuse: misuse,
			},
			{
				Lock:    of("redsync-5", 5),
				Runs:    30,
				Why:     map[string][]string{"network": {"redsync-late", "redsync-140"}},
				Is:      of5,
				Options: "Five servers, NewMutex(name) with nothing set.",
				Says:    says, Fence: fence, Misuse: misuse,
			},
			{
				Runs: 30,
				Lock: of("redsync-5-hardened", 5, redsync.WithTries(1), redsync.WithFailFast(true)),
				Is:   of5,
				Options: "Five servers, hardened: a new Mutex for each try, WithTries(1), so that each has a value of its own, " +
					"and WithFailFast(true), so that one server that does not answer keeps no call waiting.",
				Says: says, Fence: fence, Misuse: misuse,
			},
		},
	})
}

// of is redsync over some servers. A Mutex serves one Acquire or, with one try, one try.
func of(name string, nodes int, options ...redsync.Option) scenarios.Lock {
	const ttl = 8 * time.Second // the default of redsync
	return scenarios.Lock{Name: name, Traits: scenarios.Traits{Servers: scenarios.Redis(nodes), Promise: glue.Lease()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			var pools []redis.Pool
			for i := range nodes {
				server := fmt.Sprint("r", i)
				if nodes == 1 {
					server = scenarios.Primary // another one after a failover
				}
				pools = append(pools, goredis.NewPool(scenarios.RedisClient(e, server)))
			}
			locks := redsync.New(pools...)
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				var m *redsync.Mutex
				asked, err := glue.Tried(ctx, e, func(ctx context.Context) error {
					if m == nil || len(options) > 0 {
						m = locks.NewMutex(name, options...)
					}
					return m.LockContext(ctx)
				})
				if err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{
					TTL: ttl * 99 / 100, Asked: asked, Until: m.Until, // less the drift of clocks, as redsync counts
					Unlock: func(ctx context.Context) error {
						ok, err := m.UnlockContext(ctx)
						return glue.Done(ok, err, "already taken", "already expired")
					},
					Extend: func(ctx context.Context) error {
						ok, err := m.ExtendContext(ctx)
						return glue.Done(ok, err, "already taken", "already expired")
					},
				}), nil
			}), nil
		}}
}
