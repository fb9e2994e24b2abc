package raftgroup

import (
	"errors"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// The members of a group may change. The log has each change, and a member counts those as members that the part of the
// log has which it has applied.

// storage is a log with the members as of what is applied.
type storage struct {
	*raft.MemoryStorage
	members *raftpb.ConfState
}

// InitialState implements [raft.Storage].
func (s *storage) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	state, _, err := s.MemoryStorage.InitialState()
	return state, s.members, err
}

// ErrLast is returned for the only member that a group has, which cannot leave it.
var ErrLast = errors.New("it is the last member: give the world more of them")

// Leave asks whoever leads to have the group agree that the member leaves, Join that it is one of the group again.
// Leave returns ErrLast if no other would be left.
func (m *Member) Leave() error {
	if m.group.leading().Voters() == 1 {
		return ErrLast
	}
	m.group.ask(m.id, raftpb.ConfChangeRemoveNode)
	return nil
}

// Join is described at [Member.Leave].
func (m *Member) Join() { m.group.ask(m.id, raftpb.ConfChangeAddNode) }

// Belongs reports whether the member is one of the group, as far as whoever leads knows.
func (m *Member) Belongs() bool { return m.group.leading().Has(m.id) }

// ask proposes a change of the members to whoever leads. It drops it if no member leads.
func (g *Group) ask(id uint64, what raftpb.ConfChangeType) {
	leader := g.leading()
	if leader.node.Down() {
		return
	}
	change := &raftpb.ConfChange{Type: what.Enum(), NodeId: new(id)}
	if err := leader.raw.ProposeConfChange(change); err == nil {
		leader.Pump()
	}
}

// leading is the leader of the highest term that runs, or else the first member.
func (g *Group) leading() *Member {
	found := g.members[0]
	leads := func(m *Member) bool { return !m.node.Down() && m.Leader() == m.id }
	for _, m := range g.members {
		if leads(m) && (!leads(found) || m.Term() > found.Term()) {
			found = m
		}
	}
	return found
}

// Has reports whether a member is one of the group, as far as this one knows.
func (m *Member) Has(id uint64) bool { return slices.Contains(m.log.members.GetVoters(), id) }

// Voters is the number of members, as far as this one knows.
func (m *Member) Voters() int { return len(m.log.members.GetVoters()) }

// change applies a change of the members.
func (m *Member) change(e *raftpb.Entry) {
	change := &raftpb.ConfChange{}
	m.must(proto.Unmarshal(e.GetData(), change))
	m.log.members = m.raw.ApplyConfChange(change)
}
