package zookeeper

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/sim/rare"
	"locksim/sim/trace"
)

// tick is ZooKeeper's unit of time: tickTime.
const tick = 2 * time.Second

// The bounds of a session's timeout.
const (
	minTimeout = 2 * tick
	maxTimeout = 20 * tick
)

// containerRound is how often the leader looks for containers that have become empty.
const containerRound = time.Minute

// tracker measures the sessions. Only that of the leader does so.
type tracker struct {
	ends    map[int64]time.Duration // on the leader's monotonic clock
	owners  map[int64]uint64        // the server through which a session writes; none until one has asked
	closing map[int64]bool
}

// promote begins to measure: each session has its whole timeout again.
func (s *Server) promote() {
	s.sessions = tracker{ends: map[int64]time.Duration{}, owners: map[int64]uint64{}, closing: map[int64]bool{}}
	if len(s.tree.sessions) > 0 {
		s.node.Reached(rare.ZooKeeperProlonged)
	}
	for id, timeout := range s.tree.sessions {
		s.extend(id, timeout)
	}
	s.expire(s.nextTick(s.node.Monotonic()))
	s.every(containerRound, s.serves(), s.reapContainers)
}

// nextTick is the end of the tick in which a time is. Each server's ticks have begun when its machine did.
func (s *Server) nextTick(t time.Duration) time.Duration {
	return (t+s.phase)/tick*tick + tick - s.phase
}

// extend makes a session last for its timeout from now on, and until the end of a tick.
func (s *Server) extend(session int64, timeout int32) {
	s.sessions.ends[session] = s.nextTick(s.node.Monotonic() + time.Duration(timeout)*time.Millisecond)
}

// touch takes note that a session was heard of: on the leader, to whom the others report it. It reports whether the
// session goes on, as far as this server knows.
func (s *Server) touch(session int64) bool {
	if !s.Leads() {
		s.touched[session] = true
		return true
	}
	if s.sessions.closing[session] {
		s.node.Reached(rare.ZooKeeperClosing)
	}
	if _, known := s.sessions.ends[session]; !known || s.sessions.closing[session] {
		return false
	}
	s.extend(session, s.tree.sessions[session])
	return true
}

// report tells the leader which sessions this server has heard of.
func (s *Server) report(leader *Server) {
	if !s.serving || s.leader != leader.id {
		return
	}
	touched := slices.Sorted(maps.Keys(s.touched))
	s.touched = map[int64]bool{}
	s.node.Peer(leader.node).Send(func() {
		leader.heard[s.id] = leader.node.Monotonic()
		if leader.serving && leader.Leads() {
			for _, session := range touched {
				leader.touch(session)
			}
		}
	})
}

// expire ends the sessions that are over at the end of a tick, and waits for the next one.
func (s *Server) expire(at time.Duration) {
	valid := s.serves()
	s.node.After(at-s.node.Monotonic(), func() {
		s.node.WhenServing(func() {
			if !valid() {
				return
			}
			for _, id := range slices.Sorted(maps.Keys(s.sessions.ends)) {
				if s.sessions.ends[id] <= at && !s.sessions.closing[id] {
					s.node.Record("", trace.Expire{Key: "session " + sessionName(id)})
					s.propose(&proposal{session: id, packet: encodeClose()})
				}
			}
			s.expire(at + tick) // at once, if the process was stopped
		})
	})
}

// reapContainers proposes the end of the containers that have had children, and have none.
func (s *Server) reapContainers() {
	for _, path := range slices.Sorted(maps.Keys(s.tree.nodes)) {
		if n := s.tree.nodes[path]; n.owner == container && n.created > 0 && len(n.children) == 0 {
			s.propose(&proposal{packet: (&writer{}).int32(0).int32(int32(opDeleteContainer)).string(path).b})
		}
	}
}

// encodeClose is the request that ends a session.
func encodeClose() []byte { return (&writer{}).int32(0).int32(int32(opCloseSession)).b }

// encodeCreate is the request for a session with a timeout in milliseconds.
func encodeCreate(timeout int32) []byte {
	return (&writer{}).int32(0).int32(int32(opCreateSession)).int32(timeout).b
}

// newSession makes the id of a session as ZooKeeper does: from the server, the time when it began, and a number.
func (s *Server) newSession() int64 {
	s.granted++
	return int64(s.id<<56 | (uint64(s.booted/time.Millisecond)&(1<<40-1))<<16 + s.granted)
}

// password is that of a session: the same on all servers.
func password(session int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("session"), uint64(session)))
	return sum[:16]
}

func sessionName(id int64) string { return fmt.Sprintf("%x", id) }
