package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F52: a place in the queue lasts less long than a waiter's longest delay between two requests; a waiter that is alive
// loses its place, goes to the end, and those who came after it are granted the lock first.
var fairPlaceTooShort = Specimen{
	Mistake: mistake.FairPlaceTooShort,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		// Wrong:
		return newQueue(nodes[0], o, o.Backoff.Min, endlessQueue)
		// Right: return newQueue(nodes[0], o, 4*o.Backoff.Max, endlessQueue)
	},
}

var takeInTurnScript = redis.NewScript(
	`-- broken: take the key if it is free and the owner is the first in the queue; else wait there
local lock, queue, places, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, silent in ipairs(redis.call('ZRANGEBYSCORE', places, '-inf', now - 1)) do
  redis.call('ZREM', queue, silent)
  redis.call('ZREM', places, silent)
end
local first = redis.call('ZRANGE', queue, 0, 0)[1]
if redis.call('EXISTS', lock) == 0 and (first == nil or first == owner) then
  redis.call('ZREM', queue, owner)
  redis.call('ZREM', places, owner)
  redis.call('SET', lock, owner, 'PX', ARGV[2])
  return 1
end
if not redis.call('ZSCORE', queue, owner) then
  redis.call('ZADD', queue, (redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] or 0) + 1, owner)
end
redis.call('ZADD', places, now + ARGV[3], owner)
if tonumber(ARGV[4]) > 0 then redis.call('ZREMRANGEBYRANK', queue, 0, -ARGV[4] - 1) end
redis.call('PEXPIRE', queue, ARGV[2] * 2)
redis.call('PEXPIRE', places, ARGV[2] * 2)
return 0`)

// queue is a lock whose waiters queue on the node. A place that its waiter has not renewed for some time is given up.
type queue struct {
	*poller
	node redis.Cmdable
}

// endlessQueue is the length of a queue that is never cut.
const endlessQueue = 0

// newQueue makes the lock. A place lasts for a time, and the queue keeps its newest waiters up to a number.
func newQueue(node redis.Cmdable, o Options, place time.Duration, length int) lock.Locker {
	take := func(ctx context.Context, c claim) (uint64, bool, error) {
		n, err := takeInTurnScript.Run(ctx, node, []string{c.key, c.key + ":queue", c.key + ":places"},
			c.owner, o.TTL.Milliseconds(), place.Milliseconds(), length).Int64()
		return 0, n == 1, err
	}
	return queue{newOnNode(o, protocol{grant: take, release: releaseOwn(node)}), node}
}

// Acquire implements lock.Locker. A waiter keeps its owner id, and leaves the queue when it gives up.
func (q queue) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	c, err := q.claim(resource, "")
	if err != nil {
		return nil, err
	}
	l, err := q.acquire(ctx, resource, c.owner)
	if err != nil {
		away, cancel := detached(ctx, q.opt.ReleaseTimeout)
		defer cancel()
		_, _ = q.node.ZRem(away, c.key+":queue", c.owner).Result()  // else its place is given up in time
		_, _ = q.node.ZRem(away, c.key+":places", c.owner).Result() // likewise
		return nil, err
	}
	return l, nil
}
