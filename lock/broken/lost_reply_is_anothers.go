package broken

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// F27: the reply to a granted request is lost, the client asks again as the same owner, finds its own key and takes it
// for another's. It waits for itself, and all others with it, until the key expires.
var lostReplyIsAnothers = Specimen{
	Name: "lost-reply-is-anothers", ID: "F27",
	Wrong: "A request that is repeated because its reply was lost finds the key of the first, and waits until it expires.",
	Fault: lock.FaultReset, MinTTL: time.Second, MaxTTL: time.Hour,
	Detector: IdleTime, Mode: "none", Nodes: 1,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		take := func(ctx context.Context, c claim) (bool, error) {
			// Wrong:
			return setNX(ctx, nodes[0], c, o.TTL)
			// Right: return setOrOwn(ctx, nodes[0], c, o.TTL)
		}
		return newAsking(o, nodes[0], take)
	},
}

// newAsking returns a lock whose requests are repeated, as the same owner, until one of them has an answer. Only the end
// of its context ends Acquire.
func newAsking(o Options, node redis.Cmdable, take func(ctx context.Context, c claim) (bool, error)) lock.Locker {
	var p *poller
	p = newPoller(o, func(ctx context.Context, c claim) (*lease, error) {
		for {
			sent := o.Clock.Now()
			granted, err := take(ctx, c)
			switch {
			case err != nil && ctx.Err() == nil:
			case err != nil:
				return nil, err
			case granted:
				l := newLease(ctx, o, c, sent.Add(o.TTL), releaseOwn(node))
				l.endInTime()
				return l, nil
			}
			if err := o.Clock.Sleep(ctx, p.delay()); err != nil {
				return nil, fmt.Errorf("gave up: %w", err)
			}
		}
	})
	return p
}
