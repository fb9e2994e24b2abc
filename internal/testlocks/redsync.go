package testlocks

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"locksim/lock"
	"locksim/scenarios/play"
	simredis "locksim/sim/redis"
)

// redsyncLock is unmodified redsync behind a lock.Locker.
type redsyncLock struct{ *redsync.Redsync }

type redsyncLease struct {
	*redsync.Mutex
	ctx context.Context
}

func (l redsyncLock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	m := l.NewMutex(resource, redsync.WithExpiry(10*time.Second), redsync.WithTries(1000))
	return redsyncLease{m, ctx}, m.LockContext(ctx)
}
func (redsyncLease) Token() uint64                       { return 0 }
func (redsyncLease) Lost() <-chan struct{}               { return nil } // redsync gives no notice
func (l redsyncLease) Context() context.Context          { return l.ctx }
func (l redsyncLease) Release(ctx context.Context) error { _, err := l.UnlockContext(ctx); return err }

// Redsync is redsync, unmodified, on three Redis servers.
func Redsync() play.Lock {
	return play.Lock{Name: "redsync", Servers: play.Redis(3), New: func(e play.Env) (lock.Locker, error) {
		var pools []redsyncredis.Pool
		for _, node := range []string{"r0", "r1", "r2"} {
			pools = append(pools, goredis.NewPool(simredis.Client(e, node)))
		}
		return redsyncLock{redsync.New(pools...)}, nil
	}}
}
