package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F62: a release whose answer is lost counts as done, and the second call reports success and sends nothing; a caller
// that tries again, as it should, leaves the lock taken until its TTL and does not know it.
var releaseSentOnce = Specimen{
	Mistake: mistake.ReleaseSentOnce,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRetryable(nodes[0], o, func(err error) bool {
			// Wrong:
			return true
			// Right: return err == nil
		})
	},
}

// newRetryable makes a lock whose Release may be called again. done says whether a release that ended so is the last
// that is sent.
func newRetryable(node redis.Cmdable, o Options, done func(err error) bool) lock.Locker {
	return newOnNode(o, protocol{grant: grantBySetNX(node, o.TTL), back: releaseOwn(node)}).onGrant(func(_ context.Context,
		l *lease) {
		over := false
		l.free = func(ctx context.Context, c claim) error {
			if over {
				return nil
			}
			err := deleteOwn(ctx, node, c)
			over = done(err)
			return err
		}
	})
}
