package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// reentrant is a lock whose owner may enter again. It is a lock.Owned.
type reentrant struct{ *poller }

// As returns the lock for an owner.
func (r reentrant) As(owner string) lock.Locker { return ownerView{r.poller, owner} }

type ownerView struct {
	poller *poller
	owner  string
}

// Acquire implements lock.Locker.
func (v ownerView) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return v.poller.acquire(ctx, resource, v.owner)
}

var (
	enterScript = redis.NewScript(`-- broken: enter, one token for all entries
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner and owner ~= ARGV[1] then return 0 end
if not owner then
  redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', redis.call('INCR', KEYS[2]))
end
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return tonumber(redis.call('HGET', KEYS[1], 'token'))`)

	leaveScript = redis.NewScript(`-- broken: leave, and delete the key with the last entry
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
if redis.call('HINCRBY', KEYS[1], 'count', -1) == 0 then redis.call('DEL', KEYS[1]) end
return 1`)
)

// enterBy is the grant of a protocol: a script that enters and returns the token.
func enterBy(script *redis.Script, node redis.Cmdable, ttl time.Duration) grant {
	return func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
		keys := []string{c.key, counterKey(c)}
		token, err = script.Run(ctx, node, keys, c.owner, ttl.Milliseconds()).Uint64()
		return token, token != 0, err
	}
}

func leave(node redis.Cmdable) release {
	return func(ctx context.Context, c claim) error {
		return owned(leaveScript.Run(ctx, node, []string{c.key}, c.owner).Int64())
	}
}

// leaveNothing is what follows a request whose outcome is unknown: leave would give up an outer grant of the same
// owner.
func leaveNothing(context.Context, claim) error { return nil }
