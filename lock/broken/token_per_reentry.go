package broken

import (
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

var enterAnewScript = redis.NewScript(`-- broken: enter, a token for each entry
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner and owner ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
-- Wrong:
return redis.call('INCR', KEYS[2])
-- Right: INCR only if there was no owner, keep the token in the hash, and return that one (enterScript)
`)

// F34: every entry of one owner mints a token; a write of the inner section makes the outer token stale, and the fence
// refuses the rightful holder.
var tokenPerReentry = Specimen{
	Mistake: mistake.TokenPerReentry,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return reentrant{newOnNode(o, protocol{grant: enterBy(enterAnewScript, nodes[0], o.TTL), release: leave(nodes[0]),
			back: leaveNothing})}
	},
}
