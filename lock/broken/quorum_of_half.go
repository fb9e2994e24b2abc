package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F25: half of the nodes, rounded up, count as a majority. That is more than half of an odd number; of an even number
// two clients can have a half each, and a split vote, which no client should win, has two winners.
var quorumOfHalf = Specimen{
	Name: "quorum-of-half", ID: "F25",
	Wrong:  "Half of the nodes count as a majority, so that a split vote of an even number of nodes has two winners.",
	MinTTL: time.Second, MaxTTL: time.Hour,
	Detector: ClaimOverlaps, Mode: "none", Nodes: 5,
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
