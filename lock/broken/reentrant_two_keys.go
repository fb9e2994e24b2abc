package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

var (
	enterOwnerScript = redis.NewScript(`-- broken: enter, owner alone
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

	leaveTwoScript = redis.NewScript(`-- broken: leave, owner and count apart
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('DECR', KEYS[2]) <= 0 then redis.call('DEL', KEYS[1], KEYS[2]) end
return 1`)
)

// F33: owner and count are two keys with separate TTLs; if the owner's expires first the next owner continues the old
// count, and its last release does not free the lock.
var reentrantTwoKeys = Specimen{
	Mistake: mistake.ReentrantTwoKeys,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		countKey := func(c claim) string { return c.key + ":count" }
		grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			// Wrong:
			n, err := enterOwnerScript.Run(ctx, nodes[0], []string{c.key}, c.owner, o.TTL.Milliseconds()).Int()
			if err != nil || n == 0 {
				return 0, false, err
			}
			o.Point("locked")
			if err := nodes[0].Incr(ctx, countKey(c)).Err(); err != nil {
				return 0, false, err
			}
			return 0, true, nodes[0].PExpire(ctx, countKey(c), o.TTL).Err()
			// Right: owner and count in one hash, with one TTL, by one script (enterScript)
		}
		release := func(ctx context.Context, c claim) error {
			return owned(leaveTwoScript.Run(ctx, nodes[0], []string{c.key, countKey(c)}, c.owner).Int64())
		}
		return reentrant{newOnNode(o, protocol{grant: grant, release: release, back: leaveNothing})}
	},
}
