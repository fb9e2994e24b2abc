package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F23: the nodes are asked one after another, without a timeout for each; one that does not answer uses up the validity
// of the others' grants, so one node of five stops all clients.
var redlockOneByOne = Specimen{
	Name: "redlock-one-by-one", ID: "F23",
	Wrong: "The nodes are asked in turn without a timeout for each, so one that does not answer uses up the lease.",
	Fault: lock.FaultPartition, MinTTL: 50 * time.Millisecond, MaxTTL: 3 * time.Second, // up to go-redis' ReadTimeout
	Detector: LongestWait, Mode: "none", Nodes: 5,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		r.ask = func(ctx context.Context, c claim) (votes int) {
			// Wrong:
			for _, node := range nodes {
				if granted, err := setNX(ctx, node, c, o.TTL); err == nil && granted {
					votes++
				}
			}
			return votes
			// Right: return r.askAll(ctx, c)
		}
		return r.locker()
	},
}
