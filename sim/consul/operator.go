package consul

import (
	"strings"

	"locksim/faults"
	"locksim/sim/trace"
)

// locked are the keys of the watched locks that are there, and the sessions that have them, as this server knows.
func (s *server) locked() (keys, sessions []string) {
	if s.node.Down() {
		return nil, nil
	}
	for _, name := range s.cluster.truth.Watched() {
		if s.state.pairs[name] == nil {
			continue
		}
		keys = append(keys, name)
		if h := s.cluster.head(s.state, name); h.Session != "" {
			sessions = append(sessions, h.Session)
		}
	}
	return keys, sessions
}

// operate lets the leader propose what an operator has asked this server for. Without one, nothing comes of it.
func (s *server) operate(e entry) {
	if leader := s.cluster.leader(); leader.leads() {
		leader.propose(faults.Operator, e, func(bool, error) {})
	}
}

// EditKeys implements [faults.KeyEditor], by DELETE and PUT of the key.
func (s *server) EditKeys(how faults.Edit) (done bool, err error) {
	keys, _ := s.locked()
	s.node.Strike(trace.Operate{Does: string(how), Of: keys})
	for _, key := range keys {
		e := entry{Op: opDelete, Key: key}
		if how == faults.EditOverwrite {
			e = entry{Op: opSet, Key: key, Value: []byte(faults.Operator)}
		}
		s.operate(e)
	}
	return len(keys) > 0, nil
}

// EndSessions implements [faults.SessionEnder].
func (s *server) EndSessions() bool {
	_, sessions := s.locked()
	s.node.Strike(trace.Operate{Does: trace.EndsSession, Of: sessions})
	for _, id := range sessions {
		s.operate(entry{Op: opDestroy, Session: strings.ToLower(id)})
	}
	return len(sessions) > 0
}
