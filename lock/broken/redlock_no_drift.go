package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F20: the validity has no allowance for clocks of different speed; on nodes with slightly fast clocks the keys expire
// while the lease is still valid.
var redlockNoDrift = Specimen{
	Name: "redlock-no-drift", ID: "F20",
	Wrong: "The validity leaves no margin for clock drift, so keys on fast nodes expire within it.",
	Fault: lock.FaultClockDrift, MinTTL: 5 * time.Second, MaxTTL: time.Hour, // below, the drift is less than a few round trips
	Detector: ClaimOverlaps, Mode: "none", Nodes: 5,
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
