package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F50: a candidate that has found the same leader for ten TTLs takes it for settled, and asks only once in ten TTLs
// from then on. When that leader resigns, no client leads for so long.
var candidateSettles = Specimen{
	Mistake: mistake.CandidateSettles,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newPatient(nodes[0], o, func(led time.Duration) time.Duration {
			// Wrong:
			if led > 10*o.TTL {
				return 10 * o.TTL
			}
			return 0
			// Right: return 0
		})
	},
}

// newPatient returns a lock with renewals, whose candidates look before each try who leads, and wait for as long as
// pause says after the same leader has led for so long.
func newPatient(node redis.Cmdable, o Options, pause func(led time.Duration) time.Duration) *poller {
	w := newWatchdog(node, o)
	w.keep = untilStopped
	p := w.locker()
	p.rest = func(resource string) func(ctx context.Context) time.Duration {
		leader, since := "", o.Clock.Now()
		return func(ctx context.Context) time.Duration {
			found, err := node.Get(ctx, o.KeyPrefix+"{"+resource+"}").Result()
			if err != nil {
				return 0 // there is none, or it is not known
			}
			if found != leader {
				leader, since = found, o.Clock.Now()
			}
			return pause(o.Clock.Now().Sub(since))
		}
	}
	return p
}
