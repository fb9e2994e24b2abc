package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F29: the release uses the context that it is given, usually that of the request, which has often ended when the
// release is called; then nothing is sent, and the lock stays taken until its TTL.
var releaseWithRequestContext = Specimen{
	Mistake: mistake.ReleaseWithRequestContext,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		p := newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: releaseOwn(nodes[0])})
		return p.onGrant(func(_ context.Context, l *lease) {
			// Wrong:
			l.within = context.WithTimeout
			// Right: l.within = detached
		})
	},
}
