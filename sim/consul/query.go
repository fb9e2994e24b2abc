package consul

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// query is a read that a server carries out, and that may wait for a change.
type query struct {
	request
	gone    func() bool // its client has gone
	reply   func(answer)
	missing bool // there was nothing when it began to wait
	asking  bool // a majority is asked
	over    bool
}

// query carries out a read.
func (s *server) query(q *query) {
	if q.mode == modeConsistent {
		s.confirm(func(err error) { s.begin(q, err) })
		return
	}
	s.begin(q, nil)
}

// begin answers a read at once, or lets it wait.
func (s *server) begin(q *query, err error) {
	if err != nil {
		s.finish(q, answer{err: err})
		return
	}
	a := s.look(q)
	if q.index == 0 || a.index > q.index {
		s.finish(q, a)
		return
	}
	q.missing = a.code == http.StatusNotFound
	s.queries = append(s.queries, q)
	wait := q.longest()
	// The wait of a request, and up to a sixteenth more.
	draw := s.node.Draw("wait").Str(fmt.Sprint(q.key(), q.index)).Num(int64(s.node.Virtual()))
	wait += time.Duration(draw.Between(0, int64(wait/16)))
	s.node.After(wait, func() { s.node.WhenServing(func() { s.finish(q, s.look(q)) }) })
}

// wake answers the reads that wait for what has changed.
func (s *server) wake() {
	for _, q := range slices.Clone(s.queries) {
		if q.gone() {
			s.finish(q, answer{})
			continue
		}
		if q.asking || !s.ready(q, s.look(q)) {
			continue
		}
		if q.mode != modeConsistent {
			s.finish(q, s.look(q))
			continue
		}
		q.asking = true
		if !s.leads() {
			s.finish(q, answer{err: errNoLeader})
			continue
		}
		s.confirm(func(err error) {
			if q.asking = false; err != nil {
				s.finish(q, answer{err: err})
			} else if a := s.look(q); s.ready(q, a) {
				s.finish(q, a)
			}
		})
	}
}

// ready reports whether a read that waits has to be answered.
func (s *server) ready(q *query, a answer) bool {
	missing := a.code == http.StatusNotFound
	return a.index > q.index && !(missing && q.missing)
}

// finish answers a read, once.
func (s *server) finish(q *query, a answer) {
	if q.over {
		return
	}
	q.over = true
	s.queries = slices.DeleteFunc(s.queries, func(o *query) bool { return o == q })
	q.reply(a)
}

// look is the answer to a read, from what this server has.
func (s *server) look(q *query) answer {
	if q.does == doesInfo {
		found := []*session{}
		if x := s.state.session(q.entry.Session); x != nil {
			found = append(found, x)
		}
		return answer{code: http.StatusOK, body: found, index: max(s.applied, 1)}
	}
	pairs, index := s.state.read(q.entry.Key, q.entry.Prefix)
	if len(pairs) == 0 {
		return answer{code: http.StatusNotFound, index: index}
	}
	return answer{code: http.StatusOK, body: pairs, index: index}
}
