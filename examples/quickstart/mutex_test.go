package quickstart

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
)

// glue makes a lock.Locker of Mutex.
type glue struct{ client *redis.Client }

func (g glue) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	m := New(g.client, name)
	return lease{m}, m.Lock(ctx)
}

type lease struct{ *Mutex }

func (l lease) Token() uint64                     { return 0 } // it mints no fencing tokens
func (l lease) Until() time.Time                  { return l.until }
func (l lease) Lost() <-chan struct{}             { return nil } // it never tells
func (l lease) Context() context.Context          { return context.Background() }
func (l lease) Release(ctx context.Context) error { return l.Unlock(ctx) }

// mutual is what Mutex promises: no two clients hold it at once, whoever stops
// and whatever the network does.
var mutual = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultPartition, lock.FaultLatency}}

func TestMutex(t *testing.T) {
	scenarios.Check(t, scenarios.Lock{Name: "mutex", Promise: mutual, New: func(e scenarios.Env) (lock.Locker, error) {
		return glue{simredis.Client(e, "r0")}, nil // a real *redis.Client, in the world
	}}, scenarios.Options{})
}
