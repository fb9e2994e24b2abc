//go:build ignore

// Command gozero has the lock of go-zero's package redis.
package main

import (
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	red "github.com/go-redis/redis/v8"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
	"github.com/zeromicro/go-zero/core/stringx"
	"github.com/zeromicro/go-zero/core/syncx"

	"locksim/examples/groundtruth"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

// clients are those of the library, one for each address. A process of a world puts its own there under a name that no
// other has: one that dials in the world, and makes no pauses of a random length between its tries.
//
//go:linkname clients github.com/zeromicro/go-zero/core/stores/redis.clientManager
var clients *syncx.ResourceManager

var processes atomic.Int64

func main() {
	logx.Disable()
	groundtruth.Main(map[string]scenarios.Lock{"gozero-1704": kept(), "gozero-late": kept()})
}

// kept has one object of the library for each name, as the fields of a service are.
func kept() scenarios.Lock {
	const ttl = 8 // seconds
	return scenarios.Lock{New: func(e scenarios.Env) (lock.Locker, error) {
		stringx.Seed(int64(e.Source("token").Uint64()))
		c := red.NewClient(&red.Options{Addr: e.Address(scenarios.Primary), Dialer: e.Dial, MaxRetries: 3,
			MinRetryBackoff: -1, IdleCheckFrequency: -1})
		e.OnEnd(func() { _ = c.Close() })
		name := strconv.FormatInt(processes.Add(1), 10)
		if _, err := clients.GetResource(name, func() (io.Closer, error) { return c, nil }); err != nil {
			return nil, err
		}
		store := redis.New(name)
		var locks sync.Map
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			object, _ := locks.LoadOrStore(name, redis.NewRedisLock(store, name))
			l := object.(*redis.RedisLock)
			l.SetExpire(ttl)
			asked, err := glue.Tried(ctx, e, func(context.Context) error { ok, err := l.Acquire(); return glue.Done(ok, err) })
			if err != nil {
				return nil, err
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				TTL: ttl * time.Second, Asked: asked,
				Unlock: func(context.Context) error {
					if e.Clock().Now().After(asked.Add(ttl * time.Second)) {
						return lock.ErrOutcomeUnknown // it has ended: nothing is given back, nor asked
					}
					return glue.Done(l.Release())
				},
			}), nil
		}), nil
	}}
}
