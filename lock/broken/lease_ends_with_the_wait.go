package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F29: the lease lives in the context that bounds the wait. A caller that ends that context when Acquire has returned,
// as code with "defer cancel()" in a helper function does, has lost its lease before it begins to work. The catalogue
// has this for the release.
var leaseEndsWithTheWait = Specimen{
	Mistake: mistake.LeaseEndsWithTheWait,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		p := newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: releaseOwn(nodes[0])})
		return p.onGrant(func(ctx context.Context, l *lease) {
			// Wrong:
			context.AfterFunc(ctx, l.lose)
			// Right: nothing
		})
	},
}
