package libraries

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/lock"
	"locksim/scenarios"
)

// rueidis is rueidislock over one Redis key. It draws its owner ids from math/rand/v2,
// dials by itself, and sends the instant at which a key expires by the wall clock of its
// machine, unless relative is set.
func rueidisLock(relative bool) scenarios.Lock {
	return scenarios.Lock{
		Name: "rueidislock", Lease: scenarios.LeaseHeld, Detection: ttl,
		New: func(e scenarios.Env) (lock.Locker, error) {
			return rueidisLocker{sync.OnceValues(func() (rueidislock.Locker, error) {
				l, err := rueidislock.NewLocker(rueidislock.LockerOption{
					ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address("r0")}, DisableCache: true, AlwaysRESP2: true},
					KeyMajority:  1, KeyValidity: ttl, TryNextAfter: time.Second, FallbackSETPX: relative,
				})
				if err == nil {
					e.OnEnd(l.Close)
				}
				return l, err
			})}, nil
		},
	}
}

// rueidisLocker dials when it is first used: in New the world does not run yet.
type rueidisLocker struct {
	open func() (rueidislock.Locker, error)
}

func (l rueidisLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	locker, err := l.open()
	if err != nil {
		return nil, err
	}
	held, release, err := locker.WithContext(ctx, name)
	return &heldLease{held, release}, err
}
