package broken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

var updateRowScript = redis.NewScript(`-- broken: take the row if its version is still ARGV[1]
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[1] then return 0 end
redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`)

// F67: the row is updated on the condition that its version is the one that was read, and the number of changed rows is
// ignored; of two clients that read it free, both enter.
var rowUpdateUnchecked = Specimen{
	Mistake: mistake.RowUpdateUnchecked,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newVersionLock(nodes[0], o, func(changed int) bool {
			// Wrong:
			return true
			// Right: return changed == 1
		})
	},
}

// newVersionLock returns a lock on a row of two columns, the owner and a version that counts its grants. taken reports
// whether an update that changed this number of rows has taken the lock.
func newVersionLock(node redis.Cmdable, o Options, taken func(changed int) bool) *poller {
	grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
		keys := []string{c.key, c.key + ":version"}
		row, err := node.MGet(ctx, keys...).Result()
		if err != nil || row[0] != nil {
			return 0, false, err
		}
		version := "0"
		if row[1] != nil {
			version = row[1].(string)
		}
		changed, err := updateRowScript.Run(ctx, node, keys, version, c.owner, o.TTL.Milliseconds()).Int()
		return 0, err == nil && taken(changed), err
	}
	return newOnNode(o, protocol{grant: grant, release: releaseOwn(node)})
}
