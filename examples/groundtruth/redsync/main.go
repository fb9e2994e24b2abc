// Command redsync has the locks of go-redsync/redsync, over redigo, which all its versions know.
package main

import (
	"context"
	"net"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{"redsync-61": over("r0"), "redsync-151": over("r0", "r1", "r2")})
}

// over is redsync over some nodes. Its oldest versions do not tell when a lease ends, so it is counted here, from before each
// of its tries: the TTL of its defaults without the drift of clocks, as newer versions do.
func over(nodes ...string) scenarios.Lock {
	const held, pause = 8 * time.Second * 99 / 100, 100 * time.Millisecond
	return scenarios.Lock{Servers: scenarios.Redis(len(nodes)), New: func(e scenarios.Env) (lock.Locker, error) {
		var all []pools.Pool
		for _, node := range nodes {
			all = append(all, redigo.NewPool(pool(e, node)))
		}
		locks := redsync.New(all...)
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			m, until := locks.NewMutex(name, redsync.WithTries(1)), time.Time{}
			if err := scenarios.Retry(ctx, e.Clock(), pause, func(ctx context.Context) (bool, error) {
				until = time.Now().Add(held)
				return m.LockContext(ctx) == nil, ctx.Err()
			}); err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				Until:  func() time.Time { return until },
				Unlock: func(ctx context.Context) error { return done(m.UnlockContext(ctx)) },
				Extend: func(ctx context.Context) error {
					asked := time.Now()
					err := done(m.ExtendContext(ctx))
					if err == nil {
						until = asked.Add(held)
					}
					return err
				},
			}), nil
		}), nil
	}}
}

func done(ok bool, err error) error {
	return groundtruth.Done(ok, err, "already taken", "already expired")
}

// pool is a pool of redigo with a limit on each dial and each request.
func pool(e scenarios.Env, node string) *redis.Pool {
	const limit = time.Second
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return e.Dial(ctx, network, addr)
	}
	p := &redis.Pool{MaxIdle: 4, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", e.Address(node), redis.DialContextFunc(dial), redis.DialReadTimeout(limit), redis.DialWriteTimeout(limit))
	}}
	e.OnEnd(func() { _ = p.Close() })
	return p
}
