package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// The row is a hash that models a row of a database table: the owner, and the end of its lease.
var takeRowScript = redis.NewScript(`-- broken: take the row if its time is up
local ends = redis.call('HGET', KEYS[1], 'until')
if ends and tonumber(ends) > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', ARGV[3])
return 1`)

var freeRowScript = redis.NewScript(`-- broken: free the row if it is the owner's
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

// F63: a row has the end of its lease, and each client compares that with its own clock; a client whose clock is ahead
// takes a lock that is held.
var rowByClientClock = Specimen{
	Mistake: mistake.RowByClientClock,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRowLock(nodes[0], o, func(context.Context) (time.Time, error) {
			// Wrong:
			return o.Wall.Now(), nil
			// Right: return nodes[0].Time(ctx).Result()
		})
	},
}

// newRowLock returns a lock on a row whose end is written and compared by the time of now.
func newRowLock(node redis.Cmdable, o Options, now func(context.Context) (time.Time, error)) *poller {
	grant := func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
		t, err := now(ctx)
		if err != nil {
			return 0, false, err
		}
		n, err := takeRowScript.Run(ctx, node, []string{c.key}, c.owner, t.UnixMilli(), t.Add(o.TTL).UnixMilli()).Int()
		return 0, n == 1, err
	}
	release := func(ctx context.Context, c claim) error {
		return owned(freeRowScript.Run(ctx, node, []string{c.key}, c.owner).Int64())
	}
	return newOnNode(o, protocol{grant: grant, release: release})
}
