package testlocks

import (
	"time"

	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// QuorumTTL is the TTL of [Quorum].
const QuorumTTL = 10 * time.Second

// Quorum is a correct lock as in a user's code, over three Redis servers, with a TTL of its own.
func Quorum(name string) subject.Lock {
	return subject.Lock{Name: name, Traits: subject.Traits{Servers: subject.Redis(3)},
		New: func(e subject.Env) (lock.Locker, error) {
			var nodes []lock.Redis
			for _, server := range []string{subject.Primary, "r1", "r2"} {
				nodes = append(nodes, redisclient.New(e, server))
			}
			o := Options(e)
			o.TTL = QuorumTTL
			return lock.NewRedlock(nodes, lock.RedlockOptions{Options: o})
		}}
}
