package libraries

import (
	"time"

	"github.com/valkey-io/valkey-go"
	"github.com/valkey-io/valkey-go/valkeylock"

	"locksim/lock"
	"locksim/scenarios"
)

// valkeyLock is valkeylock over one key. It draws its owner ids from math/rand/v2 and
// dials by itself.
func valkeyLock() scenarios.Lock {
	return scenarios.Lock{Name: "valkeylock", Lease: scenarios.LeaseHeld, Detection: detection, New: func(e scenarios.Env) (lock.Locker, error) {
		return opened(e, func() (valkeylock.Locker, error) {
			return valkeylock.NewLocker(valkeylock.LockerOption{
				ClientOption: valkey.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true, AlwaysRESP2: true},
				KeyMajority:  1, KeyValidity: ttl, TryNextAfter: time.Second, FallbackSETPX: true,
			})
		}), nil
	}}
}
