package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F35: the watchdog ends at the first failed renewal, although there was time to send it again, and the holder goes on
// under a lock that then expires.
var watchdogStopsAfterError = Specimen{
	Mistake: mistake.WatchdogStopsAfterError,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.answered = func(l *lease, sent time.Time, held bool, err error) (goOn bool) {
			// Wrong:
			if err != nil {
				return false
			}
			// Right: without these lines, heed renews again while there is time, and then notifies the holder
			return heed(l, sent, held, err)
		}
		return w.locker()
	},
}
