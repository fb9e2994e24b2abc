package redis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/sim"
	"locksim/sim/redis/redisclient"
)

// Primary is a name that is dialled like a server's, with an address of its
// own: it resolves to r0 until [Server.Promote] moves it to a replica, as a
// Sentinel, a DNS name or a floating address does for clients in production.
// Open connections stay where they are.
const Primary = redisclient.Primary

// port is the port of the servers.
const port = 6379

// The maximal numbers of servers in a world.
const (
	maxNodes    = 64
	maxReplicas = 3
)

// Servers are the Redis servers of a world: r0, r1, …, the replicas of r0, and the
// name [Primary]. It is a [sim.Kind]. The zero value is one server.
type Servers struct {
	// Nodes is the number of servers: r0, r1, … Default 1.
	Nodes int
	// Replicas is the number of replicas that r0 has: r0a, r0b, r0c. Default 0.
	Replicas int
	// Lag is how long r0 delays what it replicates, in addition to the latency
	// of the link; each message draws its own. Default none.
	Lag sim.Latency
	// MinReplicas is min-replicas-to-write: r0, and each replica that is made a primary, refuses writes while fewer
	// replicas than that have acknowledged what they have within MaxLag, which is min-replicas-max-lag, in whole seconds.
	// Default 0: it takes every write. MaxLag is 10 s by default.
	MinReplicas int
	MaxLag      time.Duration
	// Persistence says what a server keeps over a crash. Default none.
	Persistence Persistence
	// Snapshot is how often a server saves a snapshot, by its own clock, where
	// Persistence is rdb. Default 60 s.
	Snapshot time.Duration
	// Protected says how clients keep protected data in a server. Nil means that they keep none.
	Protected *Protected
	// Reuse keeps from run to run what is expensive to make. Nil makes everything anew.
	Reuse *Reuse
}

func (c Servers) withDefaults() Servers {
	c.Nodes = cmp.Or(c.Nodes, 1)
	c.Persistence = cmp.Or(c.Persistence, PersistNone)
	c.Snapshot = cmp.Or(c.Snapshot, time.Minute)
	c.MaxLag = cmp.Or(c.MaxLag, 10*time.Second)
	if c.Reuse == nil {
		c.Reuse = new(Reuse)
	}
	return c
}

// Validate returns an error for the first invalid field, or nil.
func (c Servers) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return fmt.Errorf("%d Redis servers: give 1 to %d", c.Nodes, maxNodes)
	case c.Replicas < 0 || c.Replicas > maxReplicas:
		return fmt.Errorf("%d replicas: give 0 to %d", c.Replicas, maxReplicas)
	case c.MinReplicas < 0 || c.MinReplicas > c.Replicas:
		return fmt.Errorf("%d replicas are to have each write, and there are %d: give 0 to %d", c.MinReplicas, c.Replicas,
			c.Replicas)
	case c.MaxLag < 0:
		return fmt.Errorf("the greatest lag of a replica is %v: give a duration that is not negative", c.MaxLag)
	case !c.Lag.Valid():
		return fmt.Errorf("replication lag %v..%v: give a range that is not negative and not reversed", c.Lag.Min, c.Lag.Max)
	case !slices.Contains(Persistences(), c.Persistence):
		return fmt.Errorf("persistence %q: give one of %q", c.Persistence, Persistences())
	case c.Snapshot < 0:
		return fmt.Errorf("a snapshot every %v: give a duration", c.Snapshot)
	}
	return nil
}

// Build implements [sim.Kind].
func (c Servers) Build(b *sim.Builder) {
	redisclient.Silence()
	f := &family{config: c.withDefaults(), watched: map[string]bool{}}
	for i := range f.config.Nodes {
		f.all = append(f.all, f.add(b, fmt.Sprintf("r%d", i)))
	}
	f.group = []*Server{f.all[0]}
	for i := range f.config.Replicas {
		f.group = append(f.group, f.add(b, "r0"+string(rune('a'+i))))
	}
	f.all = append(slices.Clone(f.group), f.all[1:]...)
	if slices.Contains(f.all, nil) { // the builder could not add one, and has the error
		return
	}
	f.tell(b)
	f.primary.server = f.group[0]
	b.Alias(Primary, port, f.primary.resolve)
	f.replicate(b)
}

// family is the Redis servers of one world.
type family struct {
	config  Servers
	all     []*Server // r0 and its replicas first
	group   []*Server // r0 and its replicas, whichever of them is the primary
	primary primary
	watched map[string]bool // keys of database 0
}

// add adds a server to the world. It returns nil if the builder cannot.
func (f *family) add(b *sim.Builder, name string) *Server {
	var s *Server
	b.Add(name, port, func(n *sim.Node) sim.Server {
		s = newServer(n, f)
		return s
	})
	return s
}

func (f *family) tell(b *sim.Builder) {
	var replicas []*sim.Node
	for _, s := range f.group[1:] {
		replicas = append(replicas, s.node)
	}
	if len(replicas) > 0 {
		b.Family(f.group[0].node, replicas...)
	}
}

func (f *family) watchKeys(keys []string) {
	for _, k := range keys {
		f.watched[k] = true
	}
}

// replicate starts the replication of r0.
func (f *family) replicate(b *sim.Builder) {
	var nodes []*sim.Node
	for _, s := range f.group {
		nodes = append(nodes, s.node)
	}
	b.Link(nodes...)
	for _, s := range f.group[1:] {
		r := s.follow(f.group[0])
		r.live, r.copied = true, true // both are empty
		s.replicationCron()
		s.renewRunID()
	}
	f.group[0].renewRunID()
	if f.config.Replicas == 0 && f.config.Persistence == PersistNone {
		return
	}
	for _, s := range f.all {
		if f.config.Persistence != PersistNone || slices.Contains(f.group, s) {
			s.ledger = newLedger(s)
		}
	}
}

// primary is the server behind the name [Primary]. For clients that have not
// been told of a failover the name still resolves to the previous server.
type primary struct {
	server *Server
	stale  map[string]*Server // by process
}

// resolve is the machine that a process reaches; "" reaches the latest.
func (p *primary) resolve(process string) *sim.Node {
	if s := p.stale[process]; s != nil {
		return s.node
	}
	return p.server.node
}

// redirect makes the name resolve to another server, for all of these processes
// or, if some are told, for those.
func (p *primary) redirect(to *Server, processes, told []string) {
	before := p.stale
	p.stale = map[string]*Server{}
	for _, name := range processes {
		if len(told) > 0 && !slices.Contains(told, name) {
			p.stale[name] = cmp.Or(before[name], p.server)
		}
	}
	p.server = to
}
