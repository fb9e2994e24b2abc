package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F02: the release deletes the key without comparing the owner; a late holder deletes its successor's key, and a third
// client enters together with that one.
var delWithoutOwner = Specimen{
	Name: "del-without-owner", ID: "F02",
	Wrong: "The release deletes the key without a check of its owner.",
	Fault: lock.FaultPause, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
	Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		release := func(ctx context.Context, c claim) error {
			// Wrong:
			return owned(nodes[0].Del(ctx, c.key).Result())
			// Right: return deleteOwn(ctx, nodes[0], c)
		}
		return newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: release, back: releaseOwn(nodes[0])})
	},
}
