// Command gozero has the lock of go-zero's package redis.
package main

import (
	"context"
	"io"
	"strconv"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	red "github.com/redis/go-redis/v9"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
	"github.com/zeromicro/go-zero/core/stringx"
	"github.com/zeromicro/go-zero/core/syncx"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

// clients are those of the library, one for each address. A process of a world puts its own there under a name that no
// other has: one that dials in the world.
//
//go:linkname clients github.com/zeromicro/go-zero/core/stores/redis.clientManager
var clients *syncx.ResourceManager

var processes atomic.Int64

func main() {
	logx.Disable()
	const (
		fence = "None: the id of a lock is random."
		apart = "The circuit breaker and the metrics around its client: the client is one of go-redis."

		client = "Its client sends a request up to three times again, as the library lets it, and here without a pause."
		is     = "a lease by a key of Redis that ends, which its holder counts by its own clock."
		misuse = "the context of ReleaseCtx has ended when it is called, or it is called again after it has failed"
	)
	says := []libraries.Sentence{
		{ // it says what a grant means, and nothing of others, nor for how long
			Text: "Acquire acquires the lock.", Where: "doc comment of RedisLock.Acquire",
			File:   "core/stores/redis/redislock.go",
			Labels: []checker.Label{checker.Void},
		},
		{Text: "Random version number, prevent outdated releases.", Where: "go-zero.dev/en/docs/tutorials/redis/redis-lock"},
	}
	libraries.Main(libraries.Library{
		Name: "go-zero", Module: "github.com/zeromicro/go-zero",
		Source: "https://github.com/zeromicro/go-zero/tree/master/core/stores/redis",
		Findings: []libraries.Finding{
			{
				ID:     "gozero-late",
				Status: libraries.NotKnown,
				Where:  "redislock.go:50, 62, 90",
				What: "The id is drawn once for an object. A Release that the client has sent again, and that arrives late, " +
					"deletes the key that the same object has set since. A new object for each Acquire prevents it.",
				Draft: "gozero-late.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: of("go-zero", false),
				Is:   is,
				Options: "A new RedisLock for each Acquire, as its documentation shows, with SetExpire(8); its user asks again " +
					"after 100 ms. " + client,
				Says: says, Fence: fence, Untested: apart, Misuse: misuse,
			},
			{
				Lock: of("go-zero-kept", true),
				Is:   is,
				Why:  map[string][]string{"network": {"gozero-late"}},
				Options: "One RedisLock for each name, which is kept as a field of a service: all its grants have one id. " +
					client,
				Says: says, Fence: fence, Untested: apart, Misuse: misuse,
			},
		},
	})
}

// of is the lock with one object for each name, or for each Acquire.
func of(name string, kept bool) scenarios.Lock {
	const ttl = 8 // seconds
	return scenarios.Lock{Name: name, Traits: scenarios.Traits{Promise: glue.Lease()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			stringx.Seed(int64(e.Source("token").Uint64()))
			c := red.NewClient(&red.Options{Addr: e.Address(scenarios.Primary), Dialer: e.Dial, MaxRetries: 3,
				MinRetryBackoff: -1})
			e.OnEnd(func() { _ = c.Close() })
			process := strconv.FormatInt(processes.Add(1), 10)
			if _, err := clients.GetResource(process, func() (io.Closer, error) { return c, nil }); err != nil {
				return nil, err
			}
			store, locks := redis.New(process), map[string]*redis.RedisLock{}
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				l := locks[name]
				if l == nil || !kept {
					l = redis.NewRedisLock(store, name)
					l.SetExpire(ttl)
				}
				if kept {
					locks[name] = l
				}
				asked, err := glue.Tried(ctx, e, func(ctx context.Context) error {
					ok, err := l.AcquireCtx(ctx)
					return glue.Done(ok, err)
				})
				if err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{
					TTL: ttl * time.Second, Asked: asked,
					Unlock: func(ctx context.Context) error { return glue.Done(l.ReleaseCtx(ctx)) },
				}), nil
			}), nil
		}}
}
