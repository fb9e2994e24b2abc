package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F39: the watchdog ignores the outcome of a renewal; the lock is lost and its holder is never notified.
var watchdogIgnoresFailure = Specimen{
	Mistake: mistake.WatchdogIgnoresFailure,
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
