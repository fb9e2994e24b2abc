package redis_test

import (
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
)

// TestEvict shows which keys are evicted first. The keys were used in the order
// a, b, c, d, at intervals of 2 s; b and d have a TTL, and d expires first.
func TestEvict(t *testing.T) {
	for _, tt := range []struct {
		policy faults.EvictionPolicy
		keys   int
		left   string
	}{
		{faults.EvictAllKeysLRU, 1, "b c d"},
		{faults.EvictAllKeysLRU, 3, "d"},
		{faults.EvictAllKeysLRU, 9, ""},
		{faults.EvictVolatileLRU, 1, "a c d"},
		{faults.EvictVolatileLRU, 9, "a c"},
		{faults.EvictVolatileTTL, 1, "a b c"},
		{faults.EvictVolatileTTL, 9, "a c"},
		{faults.EvictVolatileRandom, 9, "a c"},
		{faults.EvictAllKeysRandom, 4, ""},
	} {
		t.Run(string(tt.policy), func(t *testing.T) {
			withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
				c.want("MSET d 1 c 1 b 1 a 1", "OK")
				c.want("PEXPIRE b 900000", "1")
				c.want("PEXPIRE d 800000", "1")
				for _, key := range []string{"a", "b", "c", "d"} {
					time.Sleep(2 * time.Second)
					c.want("GET "+key, "1")
				}
				c.world(func(w *sim.World) error {
					return faults.Evict{Node: "r0", Policy: tt.policy, Keys: tt.keys}.Apply(w.Faults())
				})
				time.Sleep(10 * time.Millisecond)
				for _, node := range []string{"r0", "r0a"} {
					keys, _ := c.at(node).Keys(c.ctx, "*").Result()
					if got := strings.Join(keys, " "); got != tt.left {
						t.Errorf("%s has %q, want %q", node, got, tt.left)
					}
				}
			})
		})
	}
}

// TestEvictAtRandom shows that the choice is drawn from the seed: over many
// seeds every key is evicted, and always the same one for the same seed.
func TestEvictAtRandom(t *testing.T) {
	victims := func(policy faults.EvictionPolicy) map[string]int {
		gone := map[string]int{}
		for seed := range uint64(40) {
			for range 2 {
				res := withClient(t, sim.Config{Seed: seed}, func(c *client) {
					c.want("MSET a 1 b 1 c 1", "OK") // equally old, too
					c.want("PEXPIRE a 1000", "1")
					c.want("PEXPIRE b 1000", "1")
					c.world(func(w *sim.World) error { return faults.Evict{Node: "r0", Policy: policy, Keys: 1}.Apply(w.Faults()) })
				})
				gone[texts(res.Trace, "world", "evict")[0]]++
			}
		}
		return gone
	}
	for policy, want := range map[faults.EvictionPolicy]int{
		faults.EvictAllKeysRandom: 3, faults.EvictVolatileRandom: 2, faults.EvictAllKeysLRU: 3, faults.EvictVolatileLRU: 2,
	} {
		got := victims(policy)
		if len(got) != want {
			t.Errorf("%s: %v, want %d different keys", policy, got, want)
		}
		for key, n := range got {
			if n%2 != 0 {
				t.Errorf("%s: %s in %d of two runs each", policy, key, n)
			}
		}
	}
}

func TestEvictWhereItCannot(t *testing.T) {
	res := withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.want("SET k v", "OK")
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error {
			return faults.Evict{Node: "r0", Policy: faults.EvictVolatileTTL, Keys: 1}.Apply(w.Faults())
		})
		c.world(func(w *sim.World) error {
			return faults.Evict{Node: "r0a", Policy: faults.EvictAllKeysLRU, Keys: 1}.Apply(w.Faults())
		})
		c.at("r0a").want("GET k", "v")
		c.want("GET k", "v")
		c.world(func(w *sim.World) error {
			if (faults.Evict{Node: "r9", Policy: faults.EvictAllKeysLRU, Keys: 1}).Apply(w.Faults()) == nil ||
				(faults.Evict{Node: "r0", Policy: "allkeys-lfu", Keys: 1}).Apply(w.Faults()) == nil {
				t.Error("no error for an unknown node, or an unknown policy")
			}
			return nil
		})
	})
	if got := strings.Join(texts(res.Trace, "world", "evict"), "; "); got != "r0: volatile-ttl: nothing; r0a: nothing: "+
		"it is replica of r0" {
		t.Errorf("trace %q", got)
	}
}
