// Command dapr has the Redis lock of Dapr, as the component that a sidecar runs.
package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	daprlock "github.com/dapr/components-contrib/lock"
	daprredis "github.com/dapr/components-contrib/lock/redis"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/kit/logger"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "dapr", Module: "github.com/dapr/components-contrib",
		Source: "https://github.com/dapr/components-contrib/tree/v1.16.1/lock/redis", Overlay: true,
		Locks: []libraries.Lock{{
			Lock:    standalone(),
			Options: "redisHost and nothing else; expiryInSeconds 8, and a lock owner for each Acquire.",
			Is:      "a lease by a key of Redis that ends, which its holder counts by its own clock.",
			Says: []libraries.Sentence{{
				Text: "At any given moment, only one instance of an application may hold a named lock. […] Dapr distributed " +
					"locks use a lease-based locking mechanism.",
				Where: "docs.dapr.io, Distributed lock overview",
			}},
			Refuses: map[lock.Fault]string{
				lock.FaultFailover: "it does not start on a Redis with a replica, which a failover needs: “replication is not " +
					"supported” (lock/redis/standalone.go)",
			},
			Misuse:   "the context of Unlock has ended when it is called, or it is called again after it has failed",
			Fence:    "None: the owner of a lock is chosen by its user, and no number is returned.",
			Untested: "The sidecar and its API over HTTP and gRPC: the component is called as the sidecar calls it.",
		}},
	})
}

// standalone is the component on one server. Its client dials by itself.
func standalone() scenarios.Lock {
	const ttl = 8 // seconds
	quiet := logger.NewLogger("dapr")
	quiet.SetOutput(io.Discard)
	return scenarios.Lock{Name: "dapr", Traits: scenarios.Traits{Promise: glue.Lease()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			var calls sync.WaitGroup
			var ended atomic.Bool
			open := sync.OnceValues(func() (daprlock.Store, error) { // it asks the server, and in New the world does not run yet
				s := daprredis.NewStandaloneRedisLock(quiet)
				err := s.InitLockStore(e.Context(),
					daprlock.Metadata{Base: metadata.Base{Properties: map[string]string{"redisHost": e.Address(scenarios.Primary)}}})
				if c, ok := s.(io.Closer); ok {
					e.OnEnd(func() {
						ended.Store(true)
						go func() { // a call must not meet a Close, or follow it
							calls.Wait()
							_ = c.Close()
						}()
					})
				}
				return s, err
			})
			owners, mine := 0, e.Identity()
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				store, err := open()
				if err != nil {
					return nil, err
				}
				calls.Add(1)
				defer calls.Done()
				owners++
				owner := fmt.Sprint(mine, "-", owners)
				asked, err := glue.Tried(ctx, e, func(ctx context.Context) error {
					r, err := store.TryLock(ctx, &daprlock.TryLockRequest{ResourceID: name, LockOwner: owner, ExpiryInSeconds: ttl})
					return glue.Done(err == nil && r.Success, err)
				})
				if err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{TTL: ttl * time.Second, Asked: asked,
					Unlock: func(ctx context.Context) error {
						if ended.Load() {
							return lock.ErrOutcomeUnknown
						}
						calls.Add(1)
						defer calls.Done()
						r, err := store.Unlock(ctx, &daprlock.UnlockRequest{ResourceID: name, LockOwner: owner})
						switch {
						case err != nil:
							return scenarios.Unanswered(err)
						case r.Status == daprlock.Success:
							return nil
						case r.Status == daprlock.InternalError: // it has no error for that
							return lock.ErrOutcomeUnknown
						}
						return lock.ErrNotHeld
					}}), nil
			}), nil
		}}
}
