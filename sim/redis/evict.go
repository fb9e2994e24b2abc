package redis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"locksim/faults"
	"locksim/sim/trace"
)

// Evict implements [faults.Evictor]: it deletes keys of database 0, as Redis does
// when its memory is full, or all that the policy allows if they are fewer. A
// volatile policy deletes only keys with a TTL. The time of the last use is
// exact to the second of the machine's clock, as in Redis; among equal keys the
// choice is drawn from the seed. Redis samples five keys, this server considers
// all. A replica does not evict: it follows its primary.
func (n *Server) Evict(policy faults.EvictionPolicy, keys int) (deleted int, err error) {
	if role, _ := n.Role(); n.node.Down() || n.repl.leader != nil {
		n.node.Strike(trace.Evict{Policy: string(policy), Role: role})
		return 0, nil
	}
	n.tick()
	victims := n.data.victims(policy, keys)
	step := n.node.Strike(trace.Evict{Policy: string(policy), Keys: victims})
	for _, key := range victims {
		n.touch(0, []string{"DEL", key})
		n.data.ask(0, "DEL", key)
	}
	n.commit(origin{step: step, change: trace.KeyEvicted})
	return len(victims), nil
}

// victims are the keys to evict, in order.
func (d *dataset) victims(policy faults.EvictionPolicy, count int) []string {
	db := d.mini.DB(0)
	keys := slices.DeleteFunc(db.Keys(), func(k string) bool {
		return strings.HasPrefix(string(policy), "volatile-") && db.TTL(k) == 0
	})
	rank := func(key string) int64 {
		switch policy {
		case faults.EvictVolatileTTL:
			return int64(db.TTL(key))
		case faults.EvictAllKeysLRU, faults.EvictVolatileLRU:
			return -d.idle(key)
		}
		return 0
	}
	chance := d.node.Draw("evict").Num(int64(d.node.Virtual()))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(chance.Str(a).Value(), chance.Str(b).Value()))
	})
	return keys[:min(count, len(keys))]
}

// idle is the number of seconds since the last use of a key.
func (d *dataset) idle(key string) int64 {
	reply := d.ask(0, "OBJECT", "IDLETIME", key)
	seconds, _ := strconv.ParseInt(strings.Trim(string(reply), ":\r\n"), 10, 64) // the key exists
	return seconds
}

// Flush implements [faults.Flusher]: the server deletes every key, or every
// script, as an administrator's FLUSHALL and SCRIPT FLUSH do (F46). The keys of
// a primary's replicas are deleted too, their scripts are not. A replica
// refuses.
func (n *Server) Flush(what faults.FlushWhat) (deleted int, err error) {
	if role, _ := n.Role(); n.node.Down() || n.repl.leader != nil && what != faults.FlushScripts {
		n.node.Strike(trace.Flush{What: string(what), Role: role})
		return 0, nil
	}
	n.tick()
	step := n.node.Strike(trace.Flush{What: string(what)})
	if what == faults.FlushScripts {
		return n.lua.flush(), nil
	}
	for db := range databases {
		deleted += len(n.data.mini.DB(db).Keys())
	}
	n.touch(0, []string{"FLUSHALL"})
	n.data.ask(0, "FLUSHALL")
	n.commit(origin{step: step, change: trace.KeyFlushed})
	return deleted, nil
}
