package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F29: the release uses the context that it is given, usually that of the request, which has often ended when the
// release is called; then nothing is sent, and the lock stays taken until its TTL.
var releaseWithRequestContext = Specimen{
	Name: "release-with-request-context", ID: "F29",
	Wrong:  "The release runs under the request's own context, and when that has ended nothing is sent.",
	MinTTL: time.Second, MaxTTL: time.Hour, // it has to outlast the rest of the work
	Detector: Leaked, Mode: "none", Nodes: 1,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		p := newOnNode(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: releaseOwn(nodes[0])})
		return p.onGrant(func(_ context.Context, l *lease) {
			// Wrong:
			l.within = context.WithTimeout
			// Right: l.within = detached
		})
	},
}
