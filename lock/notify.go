package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Subscriber is what [WaitNotify] needs of a client besides [Redis]. *redis.Client, *redis.ClusterClient
// and redis.UniversalClient have it.
type Subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	PTTL(ctx context.Context, key string) *redis.DurationCmd
}

// noKey is the result of PTTL for a key that does not exist.
const noKey = time.Duration(-2)

// listener waits until a release is published on the claim's channel, within the bounds of [WaitNotify].
type listener struct {
	engine *engine
	client Subscriber
	claim  claim
	sub    *subscription // nil before the first wait
}

func (l *listener) wait(ctx context.Context, n int) error {
	if over := ended(ctx); over != nil {
		return over
	}
	d, err := l.prepare(ctx, n)
	if err == nil {
		err = l.sub.sleep(ctx, l.engine.opt.Clock, d)
	}
	if over := ended(ctx); over != nil { // then another error does not matter
		return over
	}
	return err
}

// prepare ensures that there is a subscription, and returns how long to sleep at most.
func (l *listener) prepare(ctx context.Context, n int) (time.Duration, error) {
	if err := l.subscribe(ctx); err != nil {
		return 0, fmt.Errorf("subscribe to %s: %w", l.engine.channel(l.claim), err)
	}
	d := l.engine.delay(n)
	confirmed, news := l.sub.takeNews()
	if !confirmed {
		return d, nil
	}
	left, err := l.client.PTTL(ctx, l.claim.key).Result()
	if err != nil {
		return 0, fmt.Errorf("ask how long the lock is still held: %w", err)
	}
	if left == noKey && news { // it was released since the last try
		return 0, nil
	}
	d += max(left, 0) // negative: no key, or one without expiry
	if e := l.engine; e.queueTTL > 0 {
		d = min(d, e.queueTTL/minRequests)
	}
	return d, nil
}

// subscribe creates a subscription if there is none, or if it was lost with its connection. A refusal by the node is an
// error.
func (l *listener) subscribe(ctx context.Context) error {
	if l.sub != nil {
		over, err := l.sub.isOver()
		if !over {
			return nil
		}
		if _, refused := errors.AsType[redis.Error](err); refused {
			return err
		}
		l.close()
	}
	ctx, cancel := within(ctx, l.engine.opt.TTL) // a dialer of the user may have no timeout
	defer cancel()
	sub, err := subscribe(ctx, l.client, l.engine.channel(l.claim))
	l.sub = sub
	return err
}

func (l *listener) close() {
	if l.sub != nil {
		l.sub.close()
		l.sub = nil
	}
}
