package subject

import (
	goredis "github.com/redis/go-redis/v9"

	"locksim/scenarios/file"
	"locksim/sim/redis/redisclient"
)

// Primary is the name that leads to the first Redis server, or to the replica that
// a failover has promoted.
const Primary = redisclient.Primary

// RedisClient makes a go-redis client of a server ("r0", or [Primary]) with the profile of
// the scenario, in [file.LockSpec.Client]. A quiet one has the options of [redisclient.Quiet]
// and ContextTimeoutEnabled, so that the deadline of its context bounds a request. A stock
// one has those of [redisclient.Stock], the defaults of go-redis: a request lasts until it is
// answered, or for up to five seconds four times, whatever the deadline of its context.
// In neither does a cancellation end a request that is under way.
func RedisClient(e Env, server string) *goredis.Client {
	opt := redisclient.Stock()
	if e.Spec().Client != file.ClientStock {
		opt = redisclient.Quiet()
		opt.ContextTimeoutEnabled = true
	}
	opt.Addr = e.Address(server)
	return redisclient.With(e, opt)
}
