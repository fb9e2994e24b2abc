package redis_test

import (
	"testing"
	"time"

	"locksim/sim"
	simredis "locksim/sim/redis"
)

// TestReplicaHidesAndShowsAgain shows that a replica hides a key while its
// clock is past the key's expiry, and shows it again when the clock jumps back.
// Only the primary deletes it.
func TestReplicaHidesAndShowsAgain(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.want("SET k v PX 60000", "OK")
		time.Sleep(10 * time.Millisecond)
		replica := c.at("r0a")
		replica.want("GET k", "v")
		for range 2 {
			c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", time.Hour) })
			replica.want("GET k", "nil")
			c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", -time.Hour) })
			replica.want("GET k", "v")
		}
		time.Sleep(time.Minute)
		replica.want("GET k", "nil")
	})
}
