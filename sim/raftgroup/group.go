package raftgroup

import (
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"locksim/sim"
	"locksim/sim/rare"
)

// A Machine is what applies the log: the server of one member.
type Machine interface {
	// Apply executes an entry that the group has agreed on.
	Apply(e *raftpb.Entry)
	// Confirmed is the answer to [Member.ReadIndex]: a read with this context has to see the log up to index.
	Confirmed(context string, index uint64)
	// Followed is called when the member may follow another leader than before, or none.
	Followed()
	// Settled is called when raft has nothing more to do.
	Settled()
}

// FirstIndex is the index of the log at which a group begins.
const FirstIndex = uint64(1)

// Group is the members of a cluster.
type Group struct {
	size    int
	members []*Member
	direct  []func() // messages of the first election, which takes no time
	started bool
}

// New is a group that will have so many members.
func New(size int) *Group { return &Group{size: size} }

// Member is one of a group. Its log is on its disk: it is synced before a message is sent.
type Member struct {
	node    *sim.Node
	group   *Group
	machine Machine
	ticks   int
	id      uint64
	log     *storage
	raw     *raft.RawNode
	pumping bool
	first   *raftpb.ConfState // the members at the beginning
}

// Add adds a member to the group, the next one in the order of ids, which begin with 1. An election takes electionTicks
// of [Member.Tick] at least. The member has to be started.
func (g *Group) Add(node *sim.Node, machine Machine, electionTicks int) *Member {
	m := &Member{node: node, group: g, machine: machine, ticks: electionTicks, id: uint64(len(g.members) + 1),
		log: &storage{MemoryStorage: raft.NewMemoryStorage()}}
	g.members = append(g.members, m)
	voters := make([]uint64, g.size)
	for i := range voters {
		voters[i] = uint64(i + 1)
	}
	start := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		Index: new(FirstIndex), Term: new(uint64(1)), ConfState: &raftpb.ConfState{Voters: voters},
	}}
	m.first = start.GetMetadata().GetConfState()
	m.log.members = m.first
	if err := m.log.ApplySnapshot(start); err != nil {
		node.Fail(fmt.Errorf("start the log of %s: %w", node.Name(), err))
	}
	return m
}

// Elect makes a member the leader before the world begins.
func (g *Group) Elect(first int64) {
	if err := g.members[first].Campaign(); err != nil {
		g.members[first].node.Fail(fmt.Errorf("elect the first leader: %w", err))
		return
	}
	for len(g.direct) > 0 {
		deliver := g.direct[0]
		g.direct = g.direct[1:]
		deliver()
	}
	g.started = true
}

// Start starts the process of the member, or starts it anew, with what is on its disk. The machine has applied the log
// up to an index; 0 means that it is to apply all of it again.
func (m *Member) Start(applied uint64) {
	if applied == 0 {
		m.log.members = m.first
	}
	var err error
	m.raw, err = raft.NewRawNode(&raft.Config{
		ID: m.id, ElectionTick: m.ticks, HeartbeatTick: 1, Storage: m.log, Applied: max(applied, FirstIndex),
		MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 512, CheckQuorum: true, PreVote: true, Logger: logger{m.node},
	})
	if err != nil {
		m.node.Fail(fmt.Errorf("start %s: %w", m.node.Name(), err))
	}
}

// ID is the member's number, from 1.
func (m *Member) ID() uint64 { return m.id }

// Leader is the id of the member that this one follows, or 0.
func (m *Member) Leader() uint64 { return m.raw.BasicStatus().Lead }

// Term is the member's term.
func (m *Member) Term() uint64 { return m.raw.BasicStatus().HardState.GetTerm() }

// Entries is the number of entries on the disk.
func (m *Member) Entries() uint64 {
	return m.Last() - FirstIndex
}

// Last is the last index of the member's log.
func (m *Member) Last() uint64 {
	last, _ := m.log.LastIndex()
	return last
}

// Tick is a heartbeat: that of a leader, or a follower's wait for one.
func (m *Member) Tick() {
	m.raw.Tick()
	m.Pump()
}

// Campaign stands for election.
func (m *Member) Campaign() error {
	err := m.raw.Campaign()
	m.Pump()
	return err
}

// Propose proposes an entry. [Member.Pump] sends it.
func (m *Member) Propose(data []byte) error { return m.raw.Propose(data) }

// ReadIndex asks the leader how far a read has to wait. [Member.Pump] sends it.
func (m *Member) ReadIndex(context string) { m.raw.ReadIndex([]byte(context)) }

// Pump does what raft has to do, until there is nothing more.
func (m *Member) Pump() {
	if m.pumping {
		return
	}
	m.pumping = true
	for m.raw.HasReady() {
		raw := m.raw
		rd := raw.Ready()
		if rd.HardState != nil && !raft.IsEmptyHardState(rd.HardState) {
			m.must(m.log.SetHardState(rd.HardState))
		}
		if len(rd.Entries) > 0 && rd.Entries[0].GetIndex() <= m.Last() {
			m.node.Reached(rare.RaftReplaced)
		}
		m.must(m.log.Append(rd.Entries))
		for _, message := range rd.Messages {
			m.send(message)
		}
		for _, e := range rd.CommittedEntries {
			if e.GetType() == raftpb.EntryConfChange {
				m.change(e)
			}
			m.machine.Apply(e)
		}
		for _, r := range rd.ReadStates {
			m.machine.Confirmed(string(r.RequestCtx), r.Index)
		}
		raw.Advance(rd)
		m.machine.Followed()
	}
	m.pumping = false
	m.machine.Settled()
}

func (m *Member) must(err error) {
	if err != nil {
		m.node.Fail(fmt.Errorf("the log of %s: %w", m.node.Name(), err))
	}
}

func (m *Member) send(message *raftpb.Message) {
	to := m.group.members[message.GetTo()-1]
	if !m.group.started {
		m.group.direct = append(m.group.direct, func() { to.step(message) })
		return
	}
	m.node.Peer(to.node).Send(func() { to.step(message) })
}

// step takes a message of another member.
func (m *Member) step(message *raftpb.Message) {
	if h, ok := m.machine.(Hearer); ok && !isVote(message.GetType()) {
		h.Heard(message.GetFrom())
	}
	// a member that has left may not know it yet
	err := m.raw.Step(message)
	if err != nil && !errors.Is(err, raft.ErrProposalDropped) && !errors.Is(err, raft.ErrStepPeerNotFound) {
		m.node.Fail(fmt.Errorf("%s takes a message: %w", m.node.Name(), err))
	}
	m.Pump()
}

// Hearer is a [Machine] that is told whenever its leader, or a member that follows it, is heard.
type Hearer interface {
	Heard(from uint64)
}

// isVote reports whether a message is part of an election: any member sends those.
func isVote(t raftpb.MessageType) bool {
	switch t {
	case raftpb.MsgVote, raftpb.MsgVoteResp, raftpb.MsgPreVote, raftpb.MsgPreVoteResp:
		return true
	}
	return false
}

// logger takes what raft logs. Its panics are bugs, which end the run.
type logger struct{ node *sim.Node }

func (logger) Debug(...any)            {}
func (logger) Debugf(string, ...any)   {}
func (logger) Error(...any)            {}
func (logger) Errorf(string, ...any)   {}
func (logger) Info(...any)             {}
func (logger) Infof(string, ...any)    {}
func (logger) Warning(...any)          {}
func (logger) Warningf(string, ...any) {}

func (l logger) Fatal(v ...any)                 { l.Panic(v...) }
func (l logger) Fatalf(format string, v ...any) { l.Panicf(format, v...) }
func (l logger) Panic(v ...any)                 { panic("raft on " + l.node.Name() + ": " + fmt.Sprint(v...)) }
func (l logger) Panicf(format string, v ...any) { l.Panic(fmt.Sprintf(format, v...)) }
