package consul

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim"
	"locksim/sim/httpserver"
	"locksim/sim/trace"
)

// errNoLeader is the error of a request that no leader has taken: it was not carried out.
var errNoLeader = errors.New("No cluster leader") //nolint:staticcheck // in Consul's words

// Accept implements [sim.Server].
func (s *server) Accept(c *sim.ServerConn) sim.Session { return httpserver.Accept(s.node, c, s.serve) }

// Describe implements [sim.Describer].
func (*server) Describe(_ sim.Direction, b []byte) trace.Content { return message(b) }

// answer is what a request is answered with.
type answer struct {
	code  int
	index uint64 // of a read
	body  any    // nil for none
	err   error
}

// work is a request that a server has taken from a client.
type work struct {
	*server
	request
	exchange *httpserver.Exchange
	client   string
	began    time.Duration
	to       uint64 // the server that it was forwarded to, or 0
	tries    int    // numbers what was done about it: an answer to an earlier try is dropped
}

// serve takes a request.
func (s *server) serve(x *httpserver.Exchange) {
	w := &work{server: s, exchange: x, client: x.Conn.Client(), began: s.node.Monotonic()}
	var err error
	if w.request, err = read(x.Request, x.Body); err != nil {
		w.reply(answer{err: err})
		return
	}
	w.through = s.node.Name()
	if w.mode == modeStale {
		s.query(&query{request: w.request, gone: x.Over, reply: w.reply})
		return
	}
	s.node.After(rpcTimeout+w.longest(), func() {
		s.node.WhenServing(func() { w.reply(answer{err: failure("rpc error making call: i/o deadline reached")}) })
	})
	w.route()
}

// route lets the leader carry out a request.
func (w *work) route() {
	w.tries++
	w.to = 0
	switch w.leader {
	case 0:
		w.hold()
	case w.id:
		w.carry(w.request, w.client, w.exchange.Over, w.once(w.reply))
	default:
		leader := w.cluster.servers[w.leader-1]
		if leader.node.Down() && !leader.off {
			w.reply(answer{err: failure("rpc error getting client: failed to get conn: connection refused")})
			return
		}
		w.to = w.leader
		w.forwarded = append(w.forwarded, w)
		back, reply := leader.node.Peer(w.node), w.once(w.reply)
		w.node.Peer(leader.node).Send(func() {
			leader.carry(w.request, w.client, w.exchange.Over, func(a answer) { back.Send(func() { reply(a) }) })
		})
	}
}

// once is f for the answer to the present try, which comes while the process runs.
func (w *work) once(f func(answer)) func(answer) {
	try, life := w.tries, w.life
	return func(a answer) {
		if try == w.tries && life == w.life {
			f(a)
		}
	}
}

// hold lets a request that was not carried out wait for a leader, for no longer than it may.
func (w *work) hold() {
	w.tries++
	if w.node.Monotonic()-w.began >= rpcHold+w.longest() {
		w.reply(answer{err: failure(errNoLeader.Error())})
		return
	}
	try := w.tries
	w.node.After(rpcHoldStep, func() {
		w.node.WhenServing(func() {
			if try == w.tries && !w.exchange.Over() {
				w.route()
			}
		})
	})
}

// hungUp notices that a connection to another server has ended: reads are asked again, and whether writes were done
// is not known.
func (s *server) hungUp(other uint64) {
	forwarded := s.forwarded
	s.forwarded = nil
	for _, w := range forwarded {
		switch {
		case w.exchange.Over():
		case w.to != other:
			s.forwarded = append(s.forwarded, w)
		case w.isWrite():
			w.reply(answer{err: failure("rpc error making call: EOF")})
		default:
			w.hold()
		}
	}
}

// reply answers a request, and adds that to the trace.
func (w *work) reply(a answer) {
	if w.exchange.Over() {
		return
	}
	if errors.Is(a.err, errNoLeader) { // it was not carried out
		w.hold()
		return
	}
	w.forwarded = slices.DeleteFunc(w.forwarded, func(o *work) bool { return o == w })
	h := http.Header{"Content-Type": {"application/json"}}
	var body []byte
	switch {
	case a.err != nil:
		a.code = codeOf(a.err)
		h.Set("Content-Type", "text/plain")
		body = []byte(a.err.Error())
	case a.body != nil:
		body = encode(a.body)
	}
	if a.index > 0 {
		contact := time.Duration(0)
		if w.leader != w.id && w.mode == modeStale {
			contact = w.node.Monotonic() - w.heard[w.leader]
		}
		h.Set("X-Consul-Index", strconv.FormatUint(a.index, 10))
		h.Set("X-Consul-Knownleader", strconv.FormatBool(w.leader != 0))
		h.Set("X-Consul-Lastcontact", strconv.FormatInt(contact.Milliseconds(), 10))
		h.Set("X-Consul-Effective-Consistency", string(w.mode))
	}
	w.node.Record(w.client, trace.Exec{Conn: w.exchange.Conn.Name(), Request: asked(w.request), Answer: said{a}})
	w.exchange.Answer(a.code, h, body)
}

// carry carries out a request on the leader. reply is called once, unless the process ends.
func (s *server) carry(q request, client string, gone func() bool, reply func(answer)) {
	if !s.leads() {
		reply(answer{err: errNoLeader})
		return
	}
	written := func(done bool, err error) {
		if err != nil {
			reply(answer{err: err})
			return
		}
		reply(answer{code: http.StatusOK, body: done})
	}
	switch q.does {
	case doesRead, doesInfo:
		s.query(&query{request: q, gone: gone, reply: reply})
	case doesRenew:
		x := s.state.session(q.entry.Session)
		if x == nil {
			reply(answer{err: refusal{http.StatusNotFound, fmt.Sprintf("Session id '%s' not found", q.entry.Session)}})
			return
		}
		if x.ttl > 0 {
			s.cluster.prolonged(s, client, x.ID)
		}
		s.extend(x.ID)
		reply(answer{code: http.StatusOK, body: []*session{x}})
	case doesCreate:
		made := *q.entry.Made
		made.ID, made.Node = s.name(), cmp.Or(made.Node, q.through)
		if !slices.ContainsFunc(s.cluster.servers, func(o *server) bool { return o.node.Name() == made.Node }) {
			reply(answer{err: failure("apply failed: Missing node registration")})
			return
		}
		e := q.entry
		e.Session, e.Made = made.ID, &made
		s.propose(client, e, func(_ bool, err error) {
			if err != nil {
				reply(answer{err: err})
				return
			}
			reply(answer{code: http.StatusOK, body: struct{ ID string }{made.ID}})
		})
	default:
		if end, delayed := s.state.delays[q.entry.Key]; q.entry.Op == opAcquire && delayed && s.node.Monotonic() < end {
			written(false, nil)
			return
		}
		s.propose(client, q.entry, written)
	}
}

// name draws the id of a session.
func (s *server) name() string {
	s.made++
	b := make([]byte, 16)
	if _, err := s.node.Entropy(fmt.Sprintf("session %d of process %d", s.made, s.life)).Read(b); err != nil {
		s.node.Fail(fmt.Errorf("draw a session: %w", err))
	}
	h := fmt.Sprintf("%x", b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
