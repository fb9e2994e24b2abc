package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F07: the token is minted by a second command after the grant; a holder that is late in between gets a higher token
// than its successor.
var tokenAfterLock = Specimen{
	Name: "token-after-lock", ID: "F07",
	Wrong: "The token is minted after the grant, so a holder that has lost the lock in between has the higher token.",
	Fault: lock.FaultPause, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
	Detector: Corrupted, Mode: "check", Nodes: 1, Tokens: true,
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
