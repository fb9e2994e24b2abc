package broken

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F03: the release reads the owner and deletes the key in two steps; between them the key can expire and become
// another's.
var getThenDel = Specimen{
	Name: "get-then-del", ID: "F03",
	Wrong: "The release compares the owner and deletes the key in two steps, and in between the key may change hands.",
	Fault: lock.FaultPause, MinTTL: time.Second, MaxTTL: 10 * time.Second, // it must expire while a release may last
	Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
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
