// Command redsync1 has the lock of the first major version of go-redsync/redsync, whose calls have no context.
package main

import (
	"context"
	"net"
	"time"

	"github.com/go-redsync/redsync"
	"github.com/gomodule/redigo/redis"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() { groundtruth.Main(map[string]scenarios.Lock{"redsync-38": one()}) }

// one is the lock on one node. It does not tell when a lease ends: a TTL after the request, without the drift of
// clocks.
func one() scenarios.Lock {
	const held = 8 * time.Second * 99 / 100 // of the default
	return scenarios.Lock{New: func(e scenarios.Env) (lock.Locker, error) {
		locks := redsync.New([]redsync.Pool{pool(e)})
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			m, until := locks.NewMutex(name, redsync.SetTries(1)), time.Time{}
			if err := scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(ctx context.Context) (bool, error) {
				until = time.Now().Add(held)
				return m.Lock() == nil, ctx.Err()
			}); err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				Until:  func() time.Time { return until },
				Unlock: func(context.Context) error { return unsure(m.Unlock()) },
				Extend: func(context.Context) error {
					asked := time.Now()
					err := unsure(m.Extend())
					if err == nil {
						until = asked.Add(held)
					}
					return err
				},
			}), nil
		}), nil
	}}
}

// unsure is an error for false, which may mean that the lock was lost, or that there was no answer.
func unsure(ok bool) error {
	if ok {
		return nil
	}
	return lock.ErrOutcomeUnknown
}

// pool is a pool of redigo with a limit on each dial and each request.
func pool(e scenarios.Env) *redis.Pool {
	const limit = time.Second
	dial := func(network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(e.Context(), limit)
		defer cancel()
		return e.Dial(ctx, network, addr)
	}
	p := &redis.Pool{MaxIdle: 4, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", e.Address(scenarios.Primary), redis.DialNetDial(dial), redis.DialReadTimeout(limit), redis.DialWriteTimeout(limit))
	}}
	e.OnEnd(func() { _ = p.Close() })
	return p
}
