package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F01: the key is set by one command and gets its TTL by another; a client that crashes in between leaves a key that
// never expires.
var setnxThenExpire = Specimen{
	Mistake: mistake.SetnxThenExpire,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			// Wrong:
			granted, err = nodes[0].SetNX(ctx, c.key, c.owner, 0).Result()
			if err != nil || !granted {
				return 0, false, err
			}
			o.Point("locked")
			return 0, true, nodes[0].PExpire(ctx, c.key, o.TTL).Err()
			// Right: granted, err = nodes[0].SetNX(ctx, c.key, c.owner, o.TTL).Result()
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
