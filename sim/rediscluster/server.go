package rediscluster

import (
	"encoding/hex"
	"errors"
	"io"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/trace"
)

// ms is an instant of a machine's wall clock, or a length, in milliseconds, as Redis has it. 0 is no instant.
type ms int64

// msOf is a length in milliseconds.
func msOf(d time.Duration) ms { return ms(d / time.Millisecond) }

// Server is one node: a server of package redis, and its part in the cluster. Its methods are for the world's
// goroutine.
type Server struct {
	*redis.Server
	node  *sim.Node
	group *group
	index int
	id    string

	disk   // its file nodes.conf
	memory // of its process
	life   int
	period time.Duration // between its ticks
	phase  time.Duration // when in each period it ticks
	killed bool          // its process is, and its machine refuses connections
	began  ms            // the run, by its clock
}

// disk is what a node writes to its file, and keeps over a crash.
type disk struct {
	view      []peer // of all nodes, by their index
	slots     table
	epoch     uint64 // currentEpoch: the greatest of which it has heard
	voteEpoch uint64 // in which it has voted last
	migrating map[int]int
	importing map[int]int
}

// memory is what a node loses when its process ends.
type memory struct {
	ok         bool // cluster_state
	begunAt    ms   // when it looked at its state first
	minorityAt ms   // when it heard no majority last
	iteration  int
	size       int // primaries with slots
	failing    int // nodes that it took for failing at its latest tick
	buckets    [][]int
	todo       todo
	election   election
	manual     manual
	moving     bool // MIGRATE is under way: everything waits
}

// todo is what a node does before it sleeps.
type todo struct{ state, failover, manual bool }

// peer is what a node knows of another one, or of itself.
type peer struct {
	of          *Server
	slave       bool
	primary     int // whom it replicates, none for a primary
	configEpoch uint64
	count       int      // of its slots
	set         *slotSet // of them; nil if it has to be made
	pfail, fail bool
	failedAt    ms
	offset      int64
	votedAt     ms   // when this node has voted for a replica of it
	reports     []ms // when another node reported it failing, by its index

	linked   bool // the connection to it
	session  int  // numbers the connections: answers to an old one are dropped
	linkedAt ms
	pingSent ms // 0 for none without an answer
	pong     ms // the last one
	data     ms // anything that was received
}

func newServer(node *sim.Node, g *group, index int) *Server {
	s := &Server{node: node, group: g, index: index}
	s.Server = redis.NewMember(node, g.shared, s)
	id := make([]byte, 20)
	_, _ = io.ReadFull(node.Entropy("id"), id) // it cannot fail
	s.id = hex.EncodeToString(id)
	s.period = cronPause + time.Duration(node.Draw("cluster cron").Num(1).Between(int64(leastLate), int64(mostLate)))
	s.phase = time.Duration(node.Draw("cluster cron").Num(0).Between(0, int64(s.period)-1))
	s.migrating, s.importing = map[int]int{}, map[int]int{}
	return s
}

// begin is the state of a cluster that has run for a while.
func (g *group) begin() {
	shards := g.config.Shards
	sets := make([]*slotSet, shards)
	var slots table
	count := make([]int, shards)
	for shard := range shards {
		sets[shard] = new(slotSet)
		first, next := (shard*Slots+shards/2)/shards, ((shard+1)*Slots+shards/2)/shards
		for slot := first; slot < next; slot++ {
			slots[slot] = int8(shard)
			sets[shard].add(slot)
		}
		count[shard] = next - first
	}
	g.asleepSince = -2 * g.remembered()
	for _, s := range g.nodes {
		s.slots, s.epoch, s.size = slots, uint64(len(g.nodes)), shards
		for i, of := range g.nodes {
			p := peer{of: of, primary: none, reports: make([]ms, len(g.nodes)), linked: true}
			if i < shards {
				p.configEpoch, p.count, p.set = uint64(i+1), count[i], sets[i]
			} else {
				p.slave, p.primary = true, i%shards
				p.configEpoch = uint64(p.primary + 1)
			}
			s.view = append(s.view, p)
		}
		s.bucketNodes()
		s.ok, s.iteration = true, s.draw("begun", 0, 10)
		s.began, s.begunAt = s.now(), s.now()-writableDelay
	}
}

// now is the wall time of its machine.
func (s *Server) now() ms { return ms(s.node.Now().UnixMilli()) }

// timeout is cluster-node-timeout.
func (s *Server) timeout() ms { return msOf(s.group.config.NodeTimeout) }

// me is what the node knows of itself.
func (s *Server) me() *peer { return &s.view[s.index] }

// primaryOf is the primary of a node, which is the node itself if it is one; nil if it is not known.
func (s *Server) primaryOf(p *peer) *peer {
	switch {
	case !p.slave:
		return p
	case p.primary == none:
		return nil
	}
	return &s.view[p.primary]
}

// indexOf is the index of a peer.
func indexOf(p *peer) int { return p.of.index }

// setOf are the slots of a node.
func (s *Server) setOf(p *peer) *slotSet {
	if p.set == nil {
		p.set = new(slotSet)
		for slot, owner := range s.slots {
			if int(owner) == indexOf(p) {
				p.set.add(slot)
			}
		}
	}
	return p.set
}

// assign gives a slot to a node, or takes it from all, with none.
func (s *Server) assign(slot, to int) {
	if old := s.slots[slot]; old != none {
		p := &s.view[old]
		p.count, p.set = p.count-1, nil
	}
	if s.slots[slot] = int8(to); to != none {
		p := &s.view[to]
		p.count, p.set = p.count+1, nil
	}
}

// keysIn are the keys of a slot.
func (s *Server) keysIn(slot int) (keys []string) {
	for _, k := range s.KeyNames() {
		if Slot(k) == slot {
			keys = append(keys, k)
		}
	}
	return keys
}

// note records what the node notices or does.
func (s *Server) note(event, about string) {
	s.node.Record("", trace.Cluster{Event: event, About: about})
}

// Crash implements [sim.Crasher]. Its table of slots is on the disk, whatever the mode.
func (s *Server) Crash(mode faults.CrashMode) {
	s.wakeBus()
	s.Server.Crash(mode)
	s.life++
	s.memory = memory{}
	s.bucketNodes()
	s.killed = mode == faults.CrashProcess
	if s.killed {
		for _, o := range s.group.nodes {
			if o != s {
				s.send(o, func() { o.unlink(s.index) })
			}
		}
	}
}

// Restart implements [sim.Restarter].
func (s *Server) Restart(step int) {
	s.killed = false
	s.Server.Restart(step)
	now := s.now()
	for i := range s.view {
		p := &s.view[i]
		p.linked, p.data, p.pfail = false, now, false
		p.session++
		clear(p.reports)
		if p.pingSent != 0 {
			p.pingSent = now
		}
		if p.pong = now; p.fail {
			p.failedAt = now
		}
		if p.of != s { // it has tried to connect at each of its ticks
			p.of.unlink(s.index)
		}
	}
	s.life++
	if s.group.awake {
		s.plan()
	}
	s.wakeBus()
}

// PeerBack implements [sim.PeerFollower]: a connection that has lost something is made anew.
func (s *Server) PeerBack(to *sim.Node) {
	s.Server.PeerBack(to)
	if o, ok := to.Server().(*Server); ok {
		s.unlink(o.index)
		s.wakeBus()
	}
}

// ClockChanged implements [sim.ClockFollower].
func (s *Server) ClockChanged() {
	s.Server.ClockChanged()
	if s.node.Virtual() == 0 { // a clock that is wrong from the start: what the node remembers is by this one
		by := s.now() - s.began
		for i := range s.view {
			p := &s.view[i]
			p.pong, p.data = p.pong+by, p.data+by
		}
		s.began, s.begunAt = s.began+by, s.begunAt+by
	}
	s.wakeBus()
}

// Disturbed implements [sim.Disturbable].
func (s *Server) Disturbed() { s.wakeBus() }

// ServesClientsFirst implements [sim.ClientsFirst]: a process that stood still reads what its clients have sent before
// it reads what the other nodes have, and then looks at the clock.
func (s *Server) ServesClientsFirst() {}

// Promote implements [sim.Promoter], with an error: a cluster has failovers of its own.
func (s *Server) Promote(faults.Failover) error {
	return errors.New("a node of a Redis Cluster is made a primary by the cluster: give cluster_failover instead of " +
		"failover")
}

// ID is the name that the node has in the cluster, of 40 hex digits.
func (s *Server) ID() string { return s.id }

// OK reports whether the node calls the cluster up: it serves keys only then.
func (s *Server) OK() bool { return s.ok }

// Primary reports whether the node takes itself for a primary.
func (s *Server) Primary() bool { return !s.me().slave }

// Epoch is the configuration epoch of the node, or of its primary.
func (s *Server) Epoch() uint64 {
	if p := s.primaryOf(s.me()); p != nil {
		return p.configEpoch
	}
	return s.me().configEpoch
}

// OwnerOf is the node that this one takes for the owner of a slot, nil for none.
func (s *Server) OwnerOf(slot int) *Server {
	if i := s.slots[slot]; i != none {
		return s.view[i].of
	}
	return nil
}
