package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F36: the watchdog is stopped after the key was deleted; if the delete fails it is never stopped, and renews forever a
// lock that is not used.
var watchdogStopLost = Specimen{
	Mistake: mistake.WatchdogStopLost,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.release = func(ctx context.Context, node redis.Cmdable, c claim, stop func()) error {
			// Wrong:
			if err := deleteOwn(ctx, node, c); err != nil {
				return err
			}
			stop()
			return nil
			// Right: return stopThenDelete(ctx, node, c, stop)
		}
		return w.locker()
	},
}
