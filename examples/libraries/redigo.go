package libraries

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"

	"locksim/lock"
	"locksim/scenarios"
)

// overRedigo is redsync over redigo, which dials by itself.
func overRedigo() scenarios.Lock {
	return scenarios.Lock{Name: "redsync-redigo", New: func(e scenarios.Env) (lock.Locker, error) {
		p := &redis.Pool{MaxIdle: 1, DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", e.Address(scenarios.Primary), redis.DialReadTimeout(time.Second))
		}}
		e.OnEnd(func() { _ = p.Close() })
		return redigoLocker{redsync.New(pool.NewPool(p))}, nil
	}}
}

type redigoLocker struct{ *redsync.Redsync }

func (l redigoLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	m := l.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithTries(1000))
	return redigoLease{m}, m.LockContext(ctx)
}

type redigoLease struct{ *redsync.Mutex }

func (redigoLease) Token() uint64                       { return 0 }
func (redigoLease) Lost() <-chan struct{}               { return nil }
func (redigoLease) Context() context.Context            { return context.Background() }
func (l redigoLease) Release(ctx context.Context) error { _, err := l.UnlockContext(ctx); return err }
