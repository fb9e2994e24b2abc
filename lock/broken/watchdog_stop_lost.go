package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F36: the watchdog is stopped after the key was deleted; if the delete fails it is never stopped, and renews forever a
// lock that is not used.
var watchdogStopLost = Specimen{
	Name: "watchdog-stop-lost", ID: "F36",
	Wrong: "A release that fails never tells the watchdog to stop, and so the lock is kept for ever.",
	Fault: lock.FaultPartition, MinTTL: 5 * time.Second, MaxTTL: time.Hour, // longer than the failure of a release
	Detector: Stuck, Mode: "none", Nodes: 1,
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
