package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F04: the watchdog renews the key of any owner; a holder that was paused past the TTL renews its successor's lock,
// takes it for its own, and goes on.
var watchdogBareExpire = Specimen{
	Mistake: mistake.WatchdogBareExpire,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.extend = func(ctx context.Context, node redis.Cmdable, c claim, ttl time.Duration) (held bool, err error) {
			// Wrong:
			return node.PExpire(ctx, c.key, ttl).Result()
			// Right: return extendOwn(ctx, node, c, ttl)
		}
		return w.locker()
	},
}
