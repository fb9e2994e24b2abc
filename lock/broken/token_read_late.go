package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F08: the token is minted with the grant but read from the counter later; a late holder reads its successor's token,
// and no rule on numbers can distinguish the two.
var tokenReadLate = Specimen{
	Mistake: mistake.TokenReadLate,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			_, granted, err = grantAndMint(ctx, nodes[0], c, o.TTL)
			if err != nil || !granted {
				return 0, false, err
			}
			o.Point("locked")
			// Wrong:
			token, err = nodes[0].Get(ctx, counterKey(c)).Uint64()
			// Right: without that line, the token is the one that came with the grant
			return token, true, err
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
