package broken

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F04: the holder extends its lease itself, and the owner of the key is not compared; a holder whose lease has ended
// prolongs the lock of its successor, and is told that its own lease goes on.
var extendForgetsOwner = Specimen{
	Mistake: mistake.ExtendForgetsOwner,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newExtending(nodes[0], o, func(ctx context.Context, c claim) (held bool, err error) {
			// Wrong:
			return nodes[0].PExpire(ctx, c.key, o.TTL).Result()
			// Right: return extendOwn(ctx, nodes[0], c, o.TTL)
		})
	},
}

// extending is a lock whose leases can be extended.
type extending struct {
	*poller
	extend extend
}

// extend asks the node once to let the key live for another TTL.
type extend func(ctx context.Context, c claim) (held bool, err error)

// extendingLease is a lease that can be extended. It is a lock.Extender.
type extendingLease struct {
	*lease
	extend extend
}

func newExtending(node redis.Cmdable, o Options, extend extend) lock.Locker {
	return extending{newOnNode(o, protocol{grant: grantBySetNX(node, o.TTL), release: releaseOwn(node)}), extend}
}

// Acquire implements lock.Locker.
func (e extending) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := e.acquire(ctx, resource, "")
	if err != nil {
		return nil, err
	}
	return extendingLease{l.(*lease), e.extend}, nil
}

// Extend implements lock.Extender.
func (l extendingLease) Extend(ctx context.Context) error {
	sent := l.opt.Clock.Now()
	held, err := l.extend(ctx, l.claim)
	switch {
	case err != nil:
		return fmt.Errorf("extend %s: %w: %w", l.claim.resource, lock.ErrOutcomeUnknown, err)
	case !held:
		l.lose()
		return fmt.Errorf("extend %s: %w: its key was gone or another's", l.claim.resource, lock.ErrNotHeld)
	}
	l.prolong(sent.Add(l.opt.TTL))
	l.endInTime()
	return nil
}
