package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F48: the key gets the time that is left until the deadline of the request, and the holder counts its lease from the
// TTL of the options; the key of a short request is gone while its holder is at work.
var ttlFromDeadline = Specimen{
	Mistake: mistake.TtlFromDeadline,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (uint64, bool, error) {
			ttl := o.TTL
			// Wrong:
			if deadline, ok := ctx.Deadline(); ok {
				ttl = max(deadline.Sub(o.Clock.Now()), time.Millisecond)
			}
			// Right: nothing is done
			granted, err := setNX(ctx, nodes[0], c, ttl)
			return 0, granted, err
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
