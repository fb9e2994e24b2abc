package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F20: the validity has no allowance for clocks of different speed; on nodes with slightly fast clocks the keys expire
// while the lease is still valid.
var redlockNoDrift = Specimen{
	Mistake: mistake.RedlockNoDrift,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		r.drift = func(ttl time.Duration) time.Duration {
			// Wrong:
			return 0
			// Right: return ttl/100 + 2*time.Millisecond
		}
		return r.locker()
	},
}
