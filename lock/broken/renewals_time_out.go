package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F35: the renewals run under the context of the campaign, which has a time limit of ten TTLs. A leader that holds on
// for longer is not renewed any more. So it was in cilium issue 12619, with the session of an etcd client.
var renewalsTimeOut = Specimen{
	Mistake: mistake.RenewalsTimeOut,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.keep = func(ctx context.Context) (context.Context, context.CancelFunc) {
			// Wrong:
			keep, stop := untilStopped(ctx)
			o.Clock.AfterFunc(10*o.TTL, stop)
			return keep, stop
			// Right: return untilStopped(ctx)
		}
		return w.locker()
	},
}
