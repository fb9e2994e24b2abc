package articles

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// setNX is recipe A2: SET with NX and a TTL, a random value for each lock object, and a release by a script that
// compares the value before it deletes. The text promises that one client has the lock at a time, that a crash
// frees it after the TTL, and that no client deletes the lock of another.
//
// ctx is context.Background() for the reader, and now is time.Now.
type setNX struct {
	ctx     context.Context
	now     func() time.Time
	client  *redis.Client
	key, id string
	ttl     time.Duration
}

var deleteOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// Try asks once.
func (l *setNX) Try() (bool, error) {
	return l.client.SetNX(l.ctx, l.key, l.id, l.ttl).Result()
}

// Lock asks until it has the lock or the time is over.
func (l *setNX) Lock(timeout time.Duration) (bool, error) {
	return polled(l.now, timeout, l.Try)
}

// Unlock deletes the key, if it is still that of this object.
func (l *setNX) Unlock() error {
	n, err := deleteOwn.Run(l.ctx, l.client, []string{l.key}, l.id).Int()
	if err == nil && n == 0 {
		return errNotOwner
	}
	return err
}
