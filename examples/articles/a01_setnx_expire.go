package articles

import "time"

// setnxExpire is recipe A1: SETNX takes the key, and EXPIRE gives it its TTL. The text promises that one client has
// the lock at a time, and that a crash frees it after the TTL.
type setnxExpire struct{ setNX }

// Lock asks until it has the lock or the time is over.
func (l *setnxExpire) Lock(timeout time.Duration) (bool, error) {
	return polled(l.now, timeout, func() (bool, error) {
		ok, err := l.client.SetNX(l.ctx, l.key, l.id, 0).Result()
		if !ok || err != nil {
			return false, err
		}
		return true, l.client.Expire(l.ctx, l.key, l.ttl).Err()
	})
}
