package libraries

import (
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/lock"
	"locksim/scenarios"
)

// rueidisLock is rueidislock over one key. It draws its owner ids from math/rand/v2 and
// dials by itself. It sends the end of a key's TTL as an instant of its machine's wall clock;
// where relative is set, only in renewals.
func rueidisLock(relative bool) scenarios.Lock {
	return scenarios.Lock{Name: "rueidislock", Lease: scenarios.LeaseHeld, Detection: detection, New: func(e scenarios.Env) (lock.Locker, error) {
		return opened(e, func() (rueidislock.Locker, error) {
			return rueidislock.NewLocker(rueidislock.LockerOption{
				ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true, AlwaysRESP2: true},
				KeyMajority:  1, KeyValidity: ttl, TryNextAfter: time.Second, FallbackSETPX: relative,
			})
		}), nil
	}}
}
