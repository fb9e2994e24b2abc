// Package pools has clients of Redis other than go-redis v9, for libraries that need them.
package pools

import (
	"context"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"locksim/scenarios"
)

// Redigo is a pool of connections to a server, with a limit of a second on each dial and each request. It is closed at
// the end of the run.
func Redigo(e scenarios.Env, node string) *redis.Pool {
	const limit = time.Second
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return e.Dial(ctx, network, addr)
	}
	p := &redis.Pool{MaxIdle: 4, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", e.Address(node), redis.DialContextFunc(dial), redis.DialReadTimeout(limit),
			redis.DialWriteTimeout(limit))
	}}
	e.OnEnd(func() { _ = p.Close() })
	return p
}
