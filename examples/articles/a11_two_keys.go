package articles

import (
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// twoKeys is recipe A11: a lock that its owner may take again, with the owner in one key and the count in another
// one, each with a TTL of its own. The text promises that one owner has the lock at a time, and that it is free
// when this one has left as often as it has entered.
type twoKeys struct{ setNX }

func (l *twoKeys) count() string { return l.key + ":count" }

// Lock asks until it has the lock or the time is over.
func (l *twoKeys) Lock(timeout time.Duration) (bool, error) {
	return polled(l.now, timeout, func() (bool, error) {
		owner, err := l.client.Get(l.ctx, l.key).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		if owner == l.id {
			if err := l.client.Incr(l.ctx, l.count()).Err(); err != nil {
				return false, err
			}
			return true, l.client.Expire(l.ctx, l.key, l.ttl).Err()
		}
		ok, err := l.Try()
		if !ok || err != nil {
			return false, err
		}
		return true, l.client.Set(l.ctx, l.count(), 1, l.ttl).Err()
	})
}

// Unlock counts down, and deletes both keys when nothing is left.
func (l *twoKeys) Unlock() error {
	owner, err := l.client.Get(l.ctx, l.key).Result()
	if errors.Is(err, redis.Nil) || err == nil && owner != l.id {
		return errNotOwner
	}
	if err != nil {
		return err
	}
	left, err := l.client.Decr(l.ctx, l.count()).Result()
	if err != nil || left > 0 {
		return err
	}
	return l.client.Del(l.ctx, l.key, l.count()).Err()
}
