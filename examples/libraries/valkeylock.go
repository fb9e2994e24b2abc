package libraries

import (
	"context"
	"sync"
	"time"

	"github.com/valkey-io/valkey-go"
	"github.com/valkey-io/valkey-go/valkeylock"

	"locksim/lock"
	"locksim/scenarios"
)

// valkeyLock is valkeylock over one key. It draws its owner ids from math/rand/v2 and
// dials by itself.
func valkeyLock() scenarios.Lock {
	return scenarios.Lock{
		Name: "valkeylock", Lease: scenarios.LeaseHeld, Detection: ttl,
		New: func(e scenarios.Env) (lock.Locker, error) {
			return valkeyLocker{sync.OnceValues(func() (valkeylock.Locker, error) {
				l, err := valkeylock.NewLocker(valkeylock.LockerOption{
					ClientOption: valkey.ClientOption{InitAddress: []string{e.Address("r0")}, DisableCache: true, AlwaysRESP2: true},
					KeyMajority:  1, KeyValidity: ttl, TryNextAfter: time.Second, FallbackSETPX: true,
				})
				if err == nil {
					e.OnEnd(l.Close)
				}
				return l, err
			})}, nil
		},
	}
}

type valkeyLocker struct {
	open func() (valkeylock.Locker, error)
}

func (l valkeyLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	locker, err := l.open()
	if err != nil {
		return nil, err
	}
	held, release, err := locker.WithContext(ctx, name)
	return &heldLease{held, release}, err
}
