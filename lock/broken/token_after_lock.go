package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F07: the token is minted by a second command after the grant; a holder that is late in between gets a higher token
// than its successor.
var tokenAfterLock = Specimen{
	Mistake: mistake.TokenAfterLock,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			// Wrong:
			granted, err = setNX(ctx, nodes[0], c, o.TTL)
			if err != nil || !granted {
				return 0, false, err
			}
			o.Point("locked")
			token, err = nodes[0].Incr(ctx, counterKey(c)).Uint64()
			return token, true, err
			// Right: token, granted, err = grantAndMint(ctx, nodes[0], c, o.TTL)
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
