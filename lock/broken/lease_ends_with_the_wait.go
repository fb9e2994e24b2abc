package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F29: the lease lives in the context that bounds the wait. A caller that ends that context when Acquire has returned, as
// code with "defer cancel()" in a helper function does, has lost its lease before it begins to work. The catalogue has
// this for the release.
var leaseEndsWithTheWait = Specimen{
	Name: "lease-ends-with-the-wait", ID: "F29",
	Wrong:  "The lease ends with the context of Acquire, so that a caller who ends that context after the wait loses the lock.",
	MinTTL: time.Second, MaxTTL: time.Hour, // the work has to take longer than the network
	Detector: VoidGrants, Mode: "none", Nodes: 1,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		p := newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: releaseOwn(nodes[0])})
		return p.onGrant(func(ctx context.Context, l *lease) {
			// Wrong:
			context.AfterFunc(ctx, l.lose)
			// Right: nothing
		})
	},
}
