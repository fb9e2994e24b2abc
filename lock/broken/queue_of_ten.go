package broken

import (
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F52: the queue is cut to its ten newest waiters; the eleventh pushes out the first, which is alive and goes to the
// end. With more than ten waiters the first is always another one, and the lock is free and no client gets it.
var queueOfTen = Specimen{
	Mistake: mistake.QueueOfTen,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		// Wrong:
		return newQueue(nodes[0], o, 4*o.Backoff.Max, 10)
		// Right: return newQueue(nodes[0], o, 4*o.Backoff.Max, endlessQueue)
	},
}
