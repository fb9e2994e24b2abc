package broken

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F03: the release reads the owner and deletes the key in two steps; between them the key can expire and become
// another's.
var getThenDel = Specimen{
	Mistake: mistake.GetThenDel,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		release := func(ctx context.Context, c claim) error {
			// Wrong:
			owner, err := nodes[0].Get(ctx, c.key).Result()
			if errors.Is(err, redis.Nil) || err == nil && owner != c.owner {
				return owned(0, nil)
			}
			if err != nil {
				return owned(0, err)
			}
			o.Point("compared")
			return owned(nodes[0].Del(ctx, c.key).Result())
			// Right: return deleteOwn(ctx, nodes[0], c)
		}
		return newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: release, back: releaseOwn(nodes[0])})
	},
}
