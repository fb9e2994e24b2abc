package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F06: the token is minted by a command before the request for the lock; a client that is late in between holds the
// lock with a token lower than one that was used before, and is refused.
var tokenBeforeLock = Specimen{
	Name: "token-before-lock", ID: "F06",
	Wrong: "The token is minted before the grant, so a holder may have a lower token than the one before it, and is refused.",
	Fault: lock.FaultPause, MinTTL: time.Second, MaxTTL: time.Hour,
	Detector: FalseRejects, Mode: "check", Nodes: 1, Tokens: true,
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
