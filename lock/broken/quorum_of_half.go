package broken

import (
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F25: half of the nodes, rounded up, count as a majority. That is more than half of an odd number; of an even number
// two clients can have a half each, and a split vote, which no client should win, has two winners.
var quorumOfHalf = Specimen{
	Mistake: mistake.QuorumOfHalf,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		r.majority = func(nodes int) int {
			// Wrong:
			return (nodes + 1) / 2
			// Right: return nodes/2 + 1
		}
		return r.locker()
	},
}
