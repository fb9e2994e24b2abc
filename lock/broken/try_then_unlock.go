package broken

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F02: a caller that does not get the lock runs the clean-up of one that does, as a finally around tryLock and unlock
// does; the release does not compare the owner, so the key of the holder is gone.
var tryThenUnlock = Specimen{
	Mistake: mistake.TryThenUnlock,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newTrying(nodes[0], o, func(ctx context.Context, c claim) error {
			// Wrong:
			return nodes[0].Del(ctx, c.key).Err()
			// Right: return nil
		})
	},
}

// trying is a lock that can be asked without waiting. It is a lock.Trier.
type trying struct {
	*poller
	taken func(ctx context.Context, c claim) error // what a try does that was not granted
}

func newTrying(node redis.Cmdable, o Options, taken func(ctx context.Context, c claim) error) lock.Locker {
	return trying{newOnNode(o, protocol{grant: grantBySetNX(node, o.TTL), release: releaseOwn(node)}), taken}
}

// TryAcquire implements lock.Trier.
func (t trying) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	c, err := t.claim(resource, "")
	if err != nil {
		return nil, err
	}
	l, err := t.try(ctx, c)
	if err != nil {
		return nil, errors.Join(lock.ErrOutcomeUnknown, err)
	}
	if l != nil {
		return l, nil
	}
	return nil, errors.Join(lock.ErrTaken, t.taken(ctx, c))
}
