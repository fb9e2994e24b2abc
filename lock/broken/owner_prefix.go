package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F31: a client has one owner id, by which it recognises a lock that it has already, such as after a lost reply. Only
// the beginning of the key's owner is compared: the client 1 takes the lock of the client 10 for its own.
var ownerPrefix = Specimen{
	Mistake: mistake.OwnerPrefix,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRecognising(nodes[0], o, takeByPrefixScript)
	},
}

var takeByPrefixScript = redis.NewScript(`-- broken: take the key if it is free or the owner's
local owner = redis.call('GET', KEYS[1])
-- Wrong:
if owner and string.sub(owner, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
-- Right: if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

// recognising is a lock whose client has one owner id, the same for all its requests.
type recognising struct {
	*poller
	owner string
}

// newRecognising makes the lock, with the script that takes the key.
func newRecognising(node redis.Cmdable, o Options, take *redis.Script) lock.Locker {
	grant := func(ctx context.Context, c claim) (uint64, bool, error) {
		n, err := take.Run(ctx, node, []string{c.key}, c.owner, o.TTL.Milliseconds()).Int64()
		return 0, n == 1, err
	}
	return recognising{newOnNode(o, protocol{grant: grant, release: releaseOwn(node)}), o.Identity}
}

// Acquire implements lock.Locker.
func (r recognising) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return r.acquire(ctx, resource, r.owner)
}
