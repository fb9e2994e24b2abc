package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F21: the time that the nodes take to answer is measured on the wall clock; if that is set back meanwhile, the lease
// lasts longer than the keys.
var redlockWallClock = Specimen{
	Name: "redlock-wall-clock", ID: "F21",
	Wrong: "Elapsed time is the difference of two wall clock readings, and a clock set back in between lengthens the lease.",
	Fault: lock.FaultWallClock, MinTTL: time.Second, MaxTTL: time.Hour,
	Detector: ClaimOverlaps, Mode: "none", Nodes: 5,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		// Wrong:
		r.stopwatch = o.Wall
		// Right: r.stopwatch = o.Clock
		return r.locker()
	},
}
