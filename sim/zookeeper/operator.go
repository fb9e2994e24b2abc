package zookeeper

import (
	"locksim/faults"
	"locksim/sim/raftgroup"
	"locksim/sim/trace"
)

// locked are the nodes that have the watched locks, as this server knows: of a queue that of who is first.
func (s *Server) locked() (paths []string, heads []raftgroup.Head) {
	if s.node.Down() || !s.serving {
		return nil, nil
	}
	for _, name := range s.ensemble.truth.Watched() {
		h := s.ensemble.head(s.tree, name)
		switch {
		case h.Value == "":
			continue
		case isQueue(name):
			name += h.Value
		}
		paths, heads = append(paths, name), append(heads, h)
	}
	return paths, heads
}

// EditKeys implements [faults.KeyEditor], by delete and set of any version.
func (s *Server) EditKeys(how faults.Edit) (done bool, err error) {
	paths, _ := s.locked()
	s.node.Strike(trace.Operate{Does: string(how), Of: paths})
	for _, path := range paths {
		packet := (&writer{}).int32(0).int32(int32(opDelete)).string(path).int32(-1)
		if how == faults.EditOverwrite {
			packet = (&writer{}).int32(0).int32(int32(opSetData)).string(path).bytes([]byte(faults.Operator)).int32(-1)
		}
		s.propose(&proposal{packet: packet.b, client: faults.Operator})
	}
	return len(paths) > 0, nil
}

// EndSessions implements [faults.SessionEnder].
func (s *Server) EndSessions() bool {
	_, heads := s.locked()
	var sessions []int64
	var words []string
	for _, h := range heads {
		if _, open := s.tree.sessions[h.Lease]; open {
			sessions, words = append(sessions, h.Lease), append(words, sessionName(h.Lease))
		}
	}
	s.node.Strike(trace.Operate{Does: trace.EndsSession, Of: words})
	for _, id := range sessions {
		s.propose(&proposal{session: id, packet: encodeClose(), client: faults.Operator})
	}
	return len(sessions) > 0
}
