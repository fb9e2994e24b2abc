package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F26: an attempt without a majority does not release the nodes that granted it; after a split vote they are taken,
// without a holder, until their TTL has passed.
var redlockKeepsMinority = Specimen{
	Mistake: mistake.RedlockKeepsMinority,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		r.failed = func(context.Context, claim) {
			// Wrong: nothing is done
			// Right: r.deleteAll(ctx, c)
		}
		return r.locker()
	},
}
