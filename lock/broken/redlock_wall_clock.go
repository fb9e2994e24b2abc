package broken

import (
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F21: the time that the nodes take to answer is measured on the wall clock; if that is set back meanwhile, the lease
// lasts longer than the keys.
var redlockWallClock = Specimen{
	Mistake: mistake.RedlockWallClock,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		// Wrong:
		r.stopwatch = o.Wall
		// Right: r.stopwatch = o.Clock
		return r.locker()
	},
}
