package rediscluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// Prefix begins the names of the nodes.
const Prefix = "rc"

// Owner is the name that leads to the primary of the slot of [Servers].Key: the node that has it by the greatest
// configuration epoch, whether it runs or not.
const Owner = "owner"

// The ports of a node: for clients, and for the other nodes, which is only shown.
const (
	port    = 6379
	busPort = port + 10000
)

// The maximal numbers of nodes.
const (
	maxShards   = 9
	maxReplicas = 3
)

// Servers are the nodes of a Redis Cluster: rc0, rc1, …, the primaries first. It is a [sim.Kind]. The zero value is six
// nodes in three shards.
type Servers struct {
	// Shards is the number of primaries, which share the slots. Default 3, as Redis wants it: two of them are a majority.
	Shards int
	// Replicas is the number of replicas of each. Default 1; negative for none.
	Replicas int
	// NodeTimeout is cluster-node-timeout. Default 15 s, as in Redis.
	NodeTimeout time.Duration
	// Validity is cluster-replica-validity-factor: a replica that has been without its primary for more node timeouts than
	// that, and ten seconds, is not elected. Default 10; negative for always.
	Validity int
	// Key is the key whose slot's primary has the name [Owner]. Keys with the same hash tag are in one slot. Default "",
	// for no such name.
	Key string
	// Lag is how long a primary delays what it replicates, in addition to the latency of the link. Default none.
	Lag sim.Latency
	// Persistence says what a server keeps of its keys over a crash. Its table of slots it always keeps. Default none.
	Persistence redis.Persistence
	// Snapshot is how often a server saves a snapshot where Persistence is rdb. Default 60 s.
	Snapshot time.Duration
	// Reuse keeps from run to run what is expensive to make. Nil makes everything anew.
	Reuse *redis.Reuse
}

func (c Servers) withDefaults() Servers {
	c.Shards = cmp.Or(c.Shards, 3)
	c.Replicas = max(cmp.Or(c.Replicas, 1), 0)
	c.NodeTimeout = cmp.Or(c.NodeTimeout, 15*time.Second)
	c.Validity = max(cmp.Or(c.Validity, 10), 0)
	return c
}

// Nodes is the number of nodes.
func (c Servers) Nodes() int {
	c = c.withDefaults()
	return c.Shards * (1 + c.Replicas)
}

// Validate returns an error for the first invalid field, or nil.
func (c Servers) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Shards < 1 || c.Shards > maxShards:
		return fmt.Errorf("a cluster of %d shards: give 1 to %d", c.Shards, maxShards)
	case c.Replicas > maxReplicas:
		return fmt.Errorf("%d replicas of each primary: give 0 to %d", c.Replicas, maxReplicas)
	case c.NodeTimeout < 100*time.Millisecond:
		return fmt.Errorf("a node timeout of %v: give 100ms or more, since the nodes look every 100ms", c.NodeTimeout)
	}
	return c.servers().Validate()
}

// servers are the settings of the servers as such.
func (c Servers) servers() redis.Servers {
	return redis.Servers{Lag: c.Lag, Persistence: c.Persistence, Snapshot: c.Snapshot, Reuse: c.Reuse}
}

// group is the nodes of one world.
type group struct {
	config Servers
	nodes  []*Server
	shared *redis.Shared

	// See calm.go.
	awake       bool
	wakes       int // how often the bus has woken up
	awakeSince  time.Duration
	asleepSince time.Duration
}

// Build implements [sim.Kind]. The nodes know each other from the beginning, as those of a cluster that has run for a
// while.
func (c Servers) Build(b *sim.Builder) {
	if err := c.Validate(); err != nil {
		b.Fail(err)
		return
	}
	redisclient.Silence()
	c = c.withDefaults()
	g := &group{config: c, shared: redis.NewShared(c.servers())}
	for i := range c.Nodes() {
		node := b.Add(fmt.Sprintf("%s%d", Prefix, i), port, func(n *sim.Node) sim.Server {
			s := newServer(n, g, i)
			g.nodes = append(g.nodes, s)
			return s
		})
		if node == nil { // the builder could not add it, and has the error
			return
		}
	}
	var all []*sim.Node
	for _, s := range g.nodes {
		all = append(all, s.Node())
	}
	b.Link(all...)
	for shard := range c.Shards {
		var replicas []*sim.Node
		for i := c.Shards + shard; i < len(all); i += c.Shards {
			g.nodes[i].Begin(g.nodes[shard].Server)
			replicas = append(replicas, all[i])
		}
		if len(replicas) > 0 {
			b.Family(all[shard], replicas...)
		}
	}
	g.begin()
	if c.Key != "" {
		b.Alias(Owner, port, func(string) *sim.Node { return g.owner(Slot(c.Key)).Node() })
	}
}

// owner is the node that has a slot by the greatest epoch of those that believe that they have it, or have had it.
func (g *group) owner(slot int) *Server {
	best, epoch := g.nodes[0], uint64(0)
	for _, s := range g.nodes {
		if me := s.me(); !me.slave && int(s.slots[slot]) == s.index && me.configEpoch > epoch {
			best, epoch = s, me.configEpoch
		}
	}
	return best
}

// node is the index of the node with an id, none if there is none.
func (g *group) node(id string) int {
	return slices.IndexFunc(g.nodes, func(s *Server) bool { return s.id == id })
}

// On finds a node of a world by its name: rc0, rc1, …, or [Owner]. The error names the servers of the world.
func On(w *sim.World, name string) (*Server, error) {
	node, err := w.Node(name)
	if err != nil {
		return nil, err
	}
	s, ok := node.Server().(*Server)
	if !ok {
		return nil, fmt.Errorf("%s is no node of a Redis Cluster", name)
	}
	return s, nil
}
