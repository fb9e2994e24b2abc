package broken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F39: a session has no end that its holder knows, and nobody tells the holder when it is over.
var sessionNeverTells = Specimen{
	Name: "session-never-tells", ID: "F39",
	Wrong: "The lock is held for as long as a session lives, and the holder is not told when the session has ended.",
	Fault: lock.FaultPartition, MinTTL: time.Second, MaxTTL: time.Hour,
	Detector: ClaimOverlaps, Mode: "none", Nodes: 1, Detection: time.Second,
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
