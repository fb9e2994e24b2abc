package redis_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
)

func flush(node string, what faults.FlushWhat) func(w *sim.World) error {
	return func(w *sim.World) error { return faults.Flush{Node: node, What: what}.Apply(w.Faults()) }
}

// TestFlush shows that a flush deletes the keys of a node and of its replica,
// and the scripts only of the node.
func TestFlush(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		const unknown = "NOSCRIPT No matching script. Please use EVAL."
		replica := c.at("r0a")
		sha := c.ScriptLoad(c.ctx, "return 1").Val()
		replica.ScriptLoad(c.ctx, "return 1")
		c.want("SET k v PX 1000", "OK")
		c.want("SELECT 2", "OK") // on this connection
		c.want("SET l v", "OK")
		c.world(flush("r0a", faults.FlushKeys)) // it refuses
		replica.want("GET k", "v")
		c.world(flush("r0", faults.FlushKeys))
		c.want("DBSIZE", "0")
		c.want("SELECT 0", "OK")
		c.want("DBSIZE", "0")
		time.Sleep(10 * time.Millisecond)
		replica.want("GET k", "nil")
		c.want("EVALSHA "+sha+" 0", "1")

		c.world(flush("r0", faults.FlushScripts))
		c.want("EVALSHA "+sha+" 0", unknown)
		replica.want("EVALSHA "+sha+" 0", "1")
		c.world(flush("r0a", faults.FlushScripts))
		replica.want("EVALSHA "+sha+" 0", unknown)
		c.world(func(w *sim.World) error {
			if (faults.Flush{Node: "r9", What: faults.FlushKeys}).Apply(w.Faults()) == nil ||
				(faults.Flush{Node: "r0", What: "memory"}).Apply(w.Faults()) == nil {
				t.Error("no error for an unknown node, or an unknown kind of data")
			}
			return nil
		})
	})
}

// TestFlushWithoutALedger is the same in a world without a ledger.
func TestFlushWithoutALedger(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v", "OK")
		c.world(flush("r0", faults.FlushKeys))
		c.want("GET k", "nil")
	})
}
