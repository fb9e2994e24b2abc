package articles

import (
	"errors"

	"github.com/redis/go-redis/v9"
)

// twoSteps is recipe A8, in its second form: the release reads the key, compares it with its own value, and then
// deletes it. The text promises that no client deletes the lock of another.
type twoSteps struct{ setNX }

// Unlock deletes the key, if it was that of this object.
func (l *twoSteps) Unlock() error {
	value, err := l.client.Get(l.ctx, l.key).Result()
	if errors.Is(err, redis.Nil) || err == nil && value != l.id {
		return errNotOwner
	}
	if err != nil {
		return err
	}
	return l.client.Del(l.ctx, l.key).Err()
}
