package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F02: the release deletes the key without comparing the owner; a late holder deletes its successor's key, and a third
// client enters together with that one.
var delWithoutOwner = Specimen{
	Mistake: mistake.DelWithoutOwner,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		release := func(ctx context.Context, c claim) error {
			// Wrong:
			return owned(nodes[0].Del(ctx, c.key).Result())
			// Right: return deleteOwn(ctx, nodes[0], c)
		}
		return newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: release, back: releaseOwn(nodes[0])})
	},
}
