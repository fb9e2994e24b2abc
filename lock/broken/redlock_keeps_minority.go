package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F26: an attempt without a majority does not release the nodes that granted it; after a split vote they are taken,
// without a holder, until their TTL has passed.
var redlockKeepsMinority = Specimen{
	Name: "redlock-keeps-minority", ID: "F26",
	Wrong:  "A failed attempt keeps the nodes that had granted it, and nobody can have those until the TTL has passed.",
	MinTTL: time.Second, MaxTTL: time.Hour, // it has to outlast the rest of the work
	Detector: Leaked, Mode: "none", Nodes: 5,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		r := newRedlock(nodes, o)
		r.failed = func(context.Context, claim) {
			// Wrong: nothing is done
			// Right: r.deleteAll(ctx, c)
		}
		return r.locker()
	},
}
