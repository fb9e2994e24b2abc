package faults

import (
	"fmt"

	"locksim/lock/promise"
)

// MaxEvicted is the most keys that one Evict may take away.
const MaxEvicted = 1_000_000

// Evict takes keys away from a node that has run out of memory. A lock key that
// goes is a lock that is free (F45); a counter that goes begins again at 1
// (F10).
type Evict struct {
	// Node is the node without memory: "r0".
	Node string
	// Policy is which keys go first. Empty means EvictAllKeysLRU.
	Policy EvictionPolicy
	// Keys is how many keys go, if there are so many: 1 to MaxEvicted. 0 means 1.
	Keys int
}

// EvictionPolicy is which keys a node gives up when its memory is full, by the
// names of Redis' maxmemory-policy. The volatile ones take only keys that have a
// TTL.
type EvictionPolicy string

// The policies. Those that count the uses of a key are left out.
const (
	EvictAllKeysLRU     EvictionPolicy = "allkeys-lru"     // the key that was used longest ago
	EvictAllKeysRandom  EvictionPolicy = "allkeys-random"  // any key
	EvictVolatileLRU    EvictionPolicy = "volatile-lru"    // the key with a TTL that was used longest ago
	EvictVolatileRandom EvictionPolicy = "volatile-random" // any key with a TTL
	EvictVolatileTTL    EvictionPolicy = "volatile-ttl"    // the key whose TTL ends first
)

// EvictionPolicies lists the policies, the default first. The caller owns the
// slice.
func EvictionPolicies() []EvictionPolicy {
	return []EvictionPolicy{EvictAllKeysLRU, EvictAllKeysRandom, EvictVolatileLRU, EvictVolatileRandom, EvictVolatileTTL}
}

// Evictor is a server whose memory can be full.
type Evictor interface {
	// Evict deletes so many keys now, all of them if there are fewer, and returns how many it has deleted. The policy
	// is never empty, and keys is positive.
	Evict(policy EvictionPolicy, keys int) (deleted int, err error)
}

// Kind is "evict".
func (Evict) Kind() string { return "evict" }

func (e *Evict) form() Form {
	return Form{
		Text:  "a node without memory gives up keys",
		Class: promise.Eviction,
		Fields: []Field{
			{"node", Name{To: &e.Node, Role: Servers}, "which one has no memory left"},
			{"policy", Word{(*string)(&e.Policy), texts(EvictionPolicies())}, "which keys go first"},
			{"keys", Count{To: &e.Keys, Most: MaxEvicted, Units: "keys", Default: 1}, "how many go, if there are so many"},
		},
	}
}

// Apply asks an Evictor for it.
func (e Evict) Apply(world any) error {
	e = filled(e)
	return askServer(e, world, e.Node, func(s Evictor) (bool, error) {
		deleted, err := s.Evict(e.Policy, e.Keys)
		return deleted > 0, err
	})
}

// String is "evict 2 keys from r0 (allkeys-lru)".
func (e Evict) String() string {
	keys := "1 key"
	if e = filled(e); e.Keys != 1 {
		keys = fmt.Sprint(e.Keys, " keys")
	}
	return fmt.Sprintf("evict %s from %s (%s)", keys, e.Node, e.Policy)
}
