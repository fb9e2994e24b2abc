package sentinel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/sim"
	"locksim/sim/redis"
)

// MasterName is the name under which the Sentinels know the primary.
const MasterName = "mymaster"

// Port is that on which a Sentinel serves clients.
const Port = 26379

// maxCount is the maximal number of Sentinels.
const maxCount = 9

// Servers are the Sentinels sen0, sen1, … of r0 and its replicas, which have to be built before. It is a [sim.Kind].
type Servers struct {
	// Count is their number, usually 3 or 5. Default 3.
	Count int
	// Quorum is how many of them have to take the primary for down before it is replaced. Default: a majority.
	Quorum int
	// DownAfter is down-after-milliseconds: the time without an answer after which a Sentinel takes a server for down.
	// Default 30 s, as in Redis.
	DownAfter time.Duration
	// FailoverTimeout is failover-timeout. Default 3 m, as in Redis.
	FailoverTimeout time.Duration
}

func (c Servers) withDefaults() Servers {
	c.Count = cmp.Or(c.Count, 3)
	c.Quorum = cmp.Or(c.Quorum, c.Count/2+1)
	c.DownAfter = cmp.Or(c.DownAfter, 30*time.Second)
	c.FailoverTimeout = cmp.Or(c.FailoverTimeout, 3*time.Minute)
	return c
}

// Validate returns an error for the first invalid field, or nil.
func (c Servers) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Count < 1 || c.Count > maxCount:
		return fmt.Errorf("%d Sentinels: give 1 to %d", c.Count, maxCount)
	case c.Quorum < 1 || c.Quorum > c.Count:
		return fmt.Errorf("a quorum of %d among %d Sentinels: give 1 to %d", c.Quorum, c.Count, c.Count)
	case c.DownAfter < time.Millisecond || c.FailoverTimeout < time.Millisecond:
		return fmt.Errorf("down after %v, with a failover timeout of %v: give 1ms or more", c.DownAfter, c.FailoverTimeout)
	}
	return nil
}

// Build implements [sim.Kind]. The Sentinels know each other and the replicas from the beginning, as those that have
// run for a while.
func (c Servers) Build(b *sim.Builder) {
	if err := c.Validate(); err != nil {
		b.Fail(err)
		return
	}
	first := b.Node("r0")
	if first == nil {
		b.Fail(errors.New("there is no Redis server for the Sentinels to watch: add some before them"))
		return
	}
	c = c.withDefaults()
	g := &group{config: c, searches: map[string]*search{}, nodes: first.Server().(*redis.Server).Group()}
	for i := range c.Count {
		node := b.Add(fmt.Sprintf("sen%d", i), Port, func(n *sim.Node) sim.Server {
			s := newServer(n, g)
			g.sentinels = append(g.sentinels, s)
			return s
		})
		if node == nil { // the builder could not add it, and has the error
			return
		}
	}
	var sentinels []*sim.Node
	for _, s := range g.sentinels {
		sentinels = append(sentinels, s.node)
		for _, n := range g.nodes {
			b.Link(s.node, n.Node())
		}
	}
	b.Link(sentinels...)
	for _, n := range g.nodes {
		n.WhenEnds(func() {
			for _, s := range g.sentinels {
				n.Node().Peer(s.node).Send(func() { s.hungUp(n, nil) })
			}
		})
	}
	for _, s := range g.sentinels {
		s.start()
	}
}

// group is the Sentinels of a world, and the nodes that they watch.
type group struct {
	config    Servers
	nodes     []*redis.Server // r0 and its replicas
	sentinels []*Server
	searches  map[string]*search // by process
}

// node is the server with an address, nil for none.
func (g *group) node(host, port string) *redis.Server {
	i := slices.IndexFunc(g.nodes, func(n *redis.Server) bool {
		h, p := address(n.Node())
		return h == host && p == port
	})
	if i < 0 {
		return nil
	}
	return g.nodes[i]
}

// sentinel is the Sentinel with an id, nil for none.
func (g *group) sentinel(id string) *Server {
	i := slices.IndexFunc(g.sentinels, func(s *Server) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	return g.sentinels[i]
}

// On finds a Sentinel of a world by its name: sen0, sen1, … The error names the servers of the world.
func On(w *sim.World, name string) (*Server, error) {
	node, err := w.Node(name)
	if err != nil {
		return nil, err
	}
	s, ok := node.Server().(*Server)
	if !ok {
		return nil, fmt.Errorf("%s is no Sentinel", name)
	}
	return s, nil
}
