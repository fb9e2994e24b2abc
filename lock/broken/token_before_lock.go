package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F06: the token is minted by a command before the request for the lock; a client that is late in between holds the
// lock with a token lower than one that was used before, and is refused.
var tokenBeforeLock = Specimen{
	Mistake: mistake.TokenBeforeLock,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			// Wrong:
			token, err = nodes[0].Incr(ctx, counterKey(c)).Uint64()
			if err != nil {
				return 0, false, err
			}
			o.Point("asking")
			granted, err = setNX(ctx, nodes[0], c, o.TTL)
			return token, granted, err
			// Right: token, granted, err = grantAndMint(ctx, nodes[0], c, o.TTL)
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
