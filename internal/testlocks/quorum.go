package testlocks

import (
	"time"

	"locksim/lock"
	"locksim/scenarios/play"
	simredis "locksim/sim/redis"
)

// QuorumTTL is the TTL of [Quorum].
const QuorumTTL = 10 * time.Second

// Quorum is a correct lock as in a user's code, over three Redis servers, with a TTL of its own.
func Quorum(name string) play.Lock {
	return play.Lock{Name: name, Servers: play.Redis(3), New: func(e play.Env) (lock.Locker, error) {
		var nodes []lock.Redis
		for _, server := range []string{play.Primary, "r1", "r2"} {
			nodes = append(nodes, simredis.Client(e, server))
		}
		o := Options(e)
		o.TTL = QuorumTTL
		return lock.NewRedlock(nodes, lock.RedlockOptions{Options: o})
	}}
}
