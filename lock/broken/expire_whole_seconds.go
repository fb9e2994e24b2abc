package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

var grantSecondsScript = redis.NewScript(`-- broken: take the key, TTL in whole seconds
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1`)

// F48: the TTL is sent in whole seconds; one below a second becomes 0, which deletes the key at once, and every client
// is granted the lock.
var expireWholeSeconds = Specimen{
	Mistake: mistake.ExpireWholeSeconds,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			// Wrong:
			n, err := grantSecondsScript.Run(ctx, nodes[0], []string{c.key}, c.owner, int(o.TTL.Seconds())).Int()
			// Right: PEXPIRE in the script, and o.TTL.Milliseconds() here
			return 0, n == 1, err
		}
		return newOnNode(o, protocol{grant: grant, release: releaseOwn(nodes[0])})
	},
}
