package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F48: a TTL in the wrong unit. The key has the right TTL, and the holder is told that its lease ends almost at once:
// it takes each grant for one that came too late, or works without one.
var untilInWrongUnit = Specimen{
	Mistake: mistake.UntilInWrongUnit,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newPoller(o, func(ctx context.Context, c claim) (*lease, error) {
			sent := o.Clock.Now()
			granted, err := setNX(ctx, nodes[0], c, o.TTL)
			if err != nil || !granted {
				return nil, err
			}
			// Wrong:
			until := sent.Add(time.Duration(o.TTL.Milliseconds()))
			// Right: until := sent.Add(o.TTL)
			l := newLease(ctx, o, c, until, releaseOwn(nodes[0]))
			l.endInTime()
			return l, nil
		})
	},
}
