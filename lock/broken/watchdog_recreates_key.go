package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

var setAgainScript = redis.NewScript(`-- broken: let the key live longer if it is the owner's, and set it if it is gone
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

// F05: a renewal sets the key if it does not exist; a holder that was paused past the TTL takes the lock again
// unknowingly, although others may have held it meanwhile, and goes on with its old reads.
var watchdogRecreatesKey = Specimen{
	Mistake: mistake.WatchdogRecreatesKey,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.extend = func(ctx context.Context, node redis.Cmdable, c claim, ttl time.Duration) (held bool, err error) {
			// Wrong:
			n, err := setAgainScript.Run(ctx, node, []string{c.key}, c.owner, ttl.Milliseconds()).Int64()
			return n == 1, err
			// Right: return extendOwn(ctx, node, c, ttl)
		}
		return w.locker()
	},
}
