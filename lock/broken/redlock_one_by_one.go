package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F23: the nodes are asked one after another, without a timeout for each; one that does not answer uses up the validity
// of the others' grants, so one node of five stops all clients.
var redlockOneByOne = Specimen{
	Mistake: mistake.RedlockOneByOne,
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
