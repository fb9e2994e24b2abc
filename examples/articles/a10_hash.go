package articles

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// hash is recipe A10: a lock that its owner may take again, as Redisson has it: the key is a hash with the owner as
// a field, and a count as its value. The text promises that one owner has the lock at a time, that this one may
// enter again, and that those who wait are told of the release.
type hash struct{ setNX }

// The first test of the text is whether the field of the caller is there.
var enterHash = redis.NewScript(`
if redis.call("hexists", KEYS[1], ARGV[1]) == 0 then
	redis.call("hincrby", KEYS[1], ARGV[1], 1)
	redis.call("expire", KEYS[1], ARGV[2])
	return 1
end
if redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
	redis.call("hincrby", KEYS[1], ARGV[1], 1)
	redis.call("expire", KEYS[1], ARGV[2])
	return 1
end
return 0`)

var leaveHash = redis.NewScript(`
if redis.call("hexists", KEYS[1], ARGV[1]) == 0 then
	return -1
end
local left = redis.call("hincrby", KEYS[1], ARGV[1], -1)
if left <= 0 then
	redis.call("del", KEYS[1])
	redis.call("publish", KEYS[1] .. ":released", "1")
end
return left`)

// Lock enters, and waits for the message of a release while it cannot.
func (l *hash) Lock(timeout time.Duration) (bool, error) {
	end := l.now().Add(timeout)
	for l.now().Before(end) {
		entered, err := enterHash.Run(l.ctx, l.client, []string{l.key}, l.id, int(l.ttl.Seconds())).Int()
		if err != nil || entered == 1 {
			return entered == 1, err
		}
		released := l.client.Subscribe(l.ctx, l.key+":released")
		select {
		case <-released.Channel():
		case <-time.After(end.Sub(l.now())):
		}
		_ = released.Close()
	}
	return false, nil
}

// Unlock leaves once.
func (l *hash) Unlock() error {
	left, err := leaveHash.Run(l.ctx, l.client, []string{l.key}, l.id).Int()
	if err == nil && left < 0 {
		return errNotOwner
	}
	return err
}
