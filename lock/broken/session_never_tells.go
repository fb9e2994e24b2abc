package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F39: a session has no end that its holder knows, and nobody tells the holder when it is over.
var sessionNeverTells = Specimen{
	Mistake: mistake.SessionNeverTells,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.answered = func(_ *lease, _ time.Time, held bool, err error) (goOn bool) {
			// Wrong:
			return held || err != nil
			// Right: return heed(l, sent, held, err)
		}
		return w.locker()
	},
}
