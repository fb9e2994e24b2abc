package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

var grantUntilScript = redis.NewScript(`-- broken: take the key if it is free, until an instant of the client's
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2]) then return 1 end
return 0`)

// F22: the key expires at an instant of the client's wall clock; if that is behind the node's by more than the TTL the
// key expires as soon as it is set, and every client is granted the lock.
var expiryByClientClock = Specimen{
	Mistake: mistake.ExpiryByClientClock,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			// Wrong:
			until := o.Wall.Now().Add(o.TTL).UnixMilli()
			n, err := grantUntilScript.Run(ctx, nodes[0], []string{c.key}, c.owner, until).Int64()
			// Right: PX in the script, and o.TTL.Milliseconds() here
			return 0, n == 1, err
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
