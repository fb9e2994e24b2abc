package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksim/faults"
)

// Evict takes keys away from a node's database 0, as Redis does when its memory
// is full, or all that the policy allows where they are fewer. A volatile policy
// takes only keys with a TTL. What is used least recently is exact to the
// second of the node's clock, as in Redis; which of several equal keys goes is
// drawn from the seed. Redis looks at a sample of five keys, this node at all.
// A replica evicts nothing by itself: it follows its primary.
func (w *World) Evict(node string, policy faults.EvictionPolicy, keys int) error {
	n, err := w.Node(node)
	if err != nil {
		return err
	}
	if !slices.Contains(faults.EvictionPolicies(), policy) {
		return fmt.Errorf("evict keys of %s by the policy %q: give one of %q", node, policy, faults.EvictionPolicies())
	}
	if n.Down() || n.leader != nil {
		w.record("world", "evict", n.id, "nothing: it is "+n.Role())
		return nil
	}
	n.tick()
	victims := n.victims(policy, keys)
	step := w.record("world", "evict", n.id, string(policy)+": "+cmp.Or(strings.Join(victims, " "), "nothing"))
	for _, key := range victims {
		n.touch(0, []string{"DEL", key})
		n.ask(0, "DEL", key)
	}
	n.settle(origin{step: step, kind: KeyEvicted})
	return nil
}

// victims are the keys that go, in order.
func (n *RedisNode) victims(policy faults.EvictionPolicy, count int) []string {
	db := n.mini.DB(0)
	keys := slices.DeleteFunc(db.Keys(), func(k string) bool {
		return strings.HasPrefix(string(policy), "volatile-") && db.TTL(k) == 0
	})
	rank := func(key string) int64 {
		switch policy {
		case faults.EvictVolatileTTL:
			return int64(db.TTL(key))
		case faults.EvictAllKeysLRU, faults.EvictVolatileLRU:
			return -n.idle(key)
		}
		return 0
	}
	chance := n.w.draw("evict").str(n.id).num(n.w.now())
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(chance.str(a).value(), chance.str(b).value()))
	})
	return keys[:min(count, len(keys))]
}

// idle is for how many seconds nobody has used a key.
func (n *RedisNode) idle(key string) int64 {
	reply := n.ask(0, "OBJECT", "IDLETIME", key)
	seconds, _ := strconv.ParseInt(strings.Trim(string(reply), ":\r\n"), 10, 64) // the key exists
	return seconds
}
