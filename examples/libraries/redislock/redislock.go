// Command redislock has the lock of bsm/redislock.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/bsm/redislock"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "redislock", Module: "github.com/bsm/redislock", Source: "https://github.com/bsm/redislock",
		Findings: []libraries.Finding{
			{
				ID:     "redislock-prefix",
				Status: libraries.NotKnown,
				Where:  "redislock.go:81, obtain.lua",
				What: "With a token of its user: a client with the token worker-1 takes the lock of worker-12, since the " +
					"script compares as many bytes as its own token has.",
				Draft: "redislock-prefix.md",
			},
			{
				ID:     "redislock-token",
				Status: libraries.Documented,
				Where:  "doc comment of Options.Token",
				What: "With one token for all locks of a client, a release that arrives late deletes the key of its next lock. " +
					"The documentation calls a token unique; whether for a client or for a lock it does not say.",
				Draft: "redislock-token.md",
			},
		},
		Locks: []libraries.Lock{{
			Lock:    scenarios.Lock{Name: "redislock", Traits: scenarios.Traits{Promise: glue.Lease()}, New: open},
			Options: "A TTL of 8 s, LinearBackoff(100 ms); its user counts the lease from TTL(), as the library tells it.",
			Is:      "a lease by a key of Redis that ends, which its holder counts by its own clock.",
			Says: []libraries.Sentence{{
				Text: "Obtain tries to obtain a new lock using a key with the given TTL. May return ErrNotObtained if not " +
					"successful.",
				Where: "doc comment of Client.Obtain", File: "redislock.go",
			}},
			Misuse: "the context of Release has ended when it is called, or it is called again after it has failed",
			Fence:  "None: the token of a lock is random, and no larger than that of the lock before.",
		}},
	})
}

func open(e scenarios.Env) (lock.Locker, error) {
	const ttl = 8 * time.Second
	locks := redislock.New(scenarios.RedisClient(e, scenarios.Primary))
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		waits, stop := context.WithTimeout(ctx, time.Hour) // else the library waits for a TTL only
		defer stop()
		l, err := locks.Obtain(waits, name, ttl,
			&redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
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
			Unlock: func(ctx context.Context) error {
				return scenarios.NotHeld(l.Release(ctx), redislock.ErrLockNotHeld)
			},
			Extend: func(ctx context.Context) error {
				return scenarios.NotHeld(l.Refresh(ctx, ttl, nil), redislock.ErrNotObtained)
			},
		}), nil
	}), nil
}

// ended is the error of a request whose context may have ended: go-redis has its deadline as that of a connection.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.Join(err, ctx.Err())
	}
	return err
}
