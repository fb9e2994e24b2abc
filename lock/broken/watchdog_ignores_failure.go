package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F39: the watchdog ignores the outcome of a renewal; the lock is lost and its holder is never notified.
var watchdogIgnoresFailure = Specimen{
	Name: "watchdog-ignores-failure", ID: "F39",
	Wrong: "The watchdog counts renewals that failed as done, so the holder is never told of the loss.",
	Fault: lock.FaultPartition, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
	Detector: Corrupted, Mode: "none", Nodes: 1,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.answered = func(l *lease, sent time.Time, _ bool, _ error) (goOn bool) {
			// Wrong:
			l.prolong(sent.Add(l.opt.TTL))
			return true
			// Right: return heed(l, sent, held, err)
		}
		return w.locker()
	},
}
