package zookeeper

import (
	"bytes"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// conn is a server's end of one connection. Its session is answered in the order in which it asks.
type conn struct {
	server  *Server
	link    *sim.ServerConn
	stream  []byte
	session int64 // 0 until there is one
	opening bool  // a session was asked for, and there is none yet
	over    bool
	queue   []*item
	data    map[string]bool // paths that are watched, as the existence of a node is
	child   map[string]bool
}

// item is a request that waits for its answer, or for those before it.
type item struct {
	request request
	local   bool // this server can answer it alone
	done    bool
	zxid    int64
	err     code
	body    []byte
}

// Accept implements [sim.Server].
func (s *Server) Accept(c *sim.ServerConn) sim.Session {
	x := &conn{server: s, link: c, data: map[string]bool{}, child: map[string]bool{}}
	s.conns = append(s.conns, x)
	return x
}

// EOF implements [sim.Session].
func (x *conn) EOF() { x.hangUp() }

// Reset implements [sim.Session].
func (x *conn) Reset() { x.leave() }

// leave ends the connection. Its session goes on.
func (x *conn) leave() {
	if x.over {
		return
	}
	x.over = true
	s := x.server
	for i, y := range s.conns {
		if y == x {
			s.conns = append(s.conns[:i:i], s.conns[i+1:]...)
			break
		}
	}
}

// hangUp closes the connection.
func (x *conn) hangUp() {
	if !x.over {
		x.leave()
		x.link.Finish()
	}
}

// Data implements [sim.Session].
func (x *conn) Data(b []byte) {
	x.stream = append(x.stream, b...)
	x.consume()
}

// consume takes the messages that have arrived.
func (x *conn) consume() {
	for !x.over && !x.opening {
		message, rest, err := cut(x.stream)
		if err != nil || message != nil && !x.server.serving {
			x.hangUp()
			return
		}
		if message == nil {
			return
		}
		x.stream = rest
		if x.session == 0 {
			x.connect(message)
			continue
		}
		q, err := parse(message)
		if err != nil {
			x.record(Request{q}, Answer{err: errMarshalling})
			x.hangUp()
			return
		}
		x.take(q, message)
	}
}

// record adds to the trace what the server has answered.
func (x *conn) record(q Request, a Answer) {
	x.server.node.Record(x.link.Client(), trace.Exec{Conn: x.link.Name(), Request: q, Answer: a})
}

// connect takes the first message of a connection, which asks for a session: a new one, or one that it names.
func (x *conn) connect(message []byte) {
	r, s := &reader{b: message}, x.server
	r.int32() // the version of the protocol
	seen := r.int64()
	timeout := min(max(time.Duration(r.int32())*time.Millisecond, minTimeout), maxTimeout)
	session, secret := r.int64(), r.bytes()
	modern := len(r.b) > 0 // it wants to know whether the server is one for reads only
	if r.err != nil || seen > s.tree.zxid {
		x.hangUp() // the client has seen what this server has not
		return
	}
	x.opening = true
	finish := func(session int64, valid bool) {
		if x.over {
			return
		}
		x.opening = false
		x.open(session, timeout, modern, valid)
		x.consume()
	}
	if session == 0 {
		id := s.newSession()
		s.propose(&proposal{
			session: id, packet: encodeCreate(int32(timeout / time.Millisecond)), client: x.link.Client(),
			done: func(int64, code, []byte) { finish(id, true) },
		})
		return
	}
	for _, y := range s.conns {
		if y != x && y.session == session {
			y.hangUp()
			break
		}
	}
	if !bytes.Equal(secret, password(session)) {
		finish(session, false)
		return
	}
	s.reopen(session, func(valid bool) { finish(session, valid) })
}

// reopen asks the leader whether a session goes on, and binds it to this server.
func (s *Server) reopen(session int64, done func(valid bool)) {
	if s.leader == s.id {
		done(s.rebind(session, s.id))
		return
	}
	leader, valid := s.ensemble.servers[s.leader-1], s.serves()
	s.node.Peer(leader.node).Send(func() {
		if !leader.serving || !leader.Leads() {
			return
		}
		goesOn := leader.rebind(session, s.id)
		leader.node.Peer(s.node).Send(func() {
			if valid() {
				done(goesOn)
			}
		})
	})
}

// rebind binds a session to a server, on the leader, if it goes on.
func (s *Server) rebind(session int64, to uint64) bool {
	if !s.touch(session) {
		return false
	}
	s.sessions.owners[session] = to
	return true
}

// open answers the request for a session.
func (x *conn) open(session int64, timeout time.Duration, modern, valid bool) {
	w, a := &writer{}, Answer{text: "session " + sessionName(session)}
	w.int32(0)
	if valid {
		w.int32(int32(timeout / time.Millisecond)).int64(session).bytes(password(session))
	} else {
		w.int32(0).int64(0).bytes(make([]byte, 16))
		a = Answer{err: errSessionExpired}
	}
	if modern {
		w.bool(false)
	}
	x.record(Request{request{op: opCreateSession}}, a)
	x.link.Send(w.packet())
	if !valid {
		x.hangUp()
		return
	}
	x.session = session
	x.server.touch(session)
}

func (x *conn) take(q request, message []byte) {
	s := x.server
	if !s.touch(x.session) {
		return // as ZooKeeper does with what comes from a session that it is about to end
	}
	w := &item{request: q}
	x.queue = append(x.queue, w)
	done := func(zxid int64, err code, body []byte) {
		if !x.over {
			w.done, w.zxid, w.err, w.body = true, zxid, err, body
			x.advance()
		}
	}
	switch {
	case q.isWrite():
		s.propose(&proposal{session: x.session, packet: message, client: x.link.Client(), done: done})
	case q.op == opSync:
		s.sync(func() {
			body, err := s.tree.read(q)
			done(s.tree.zxid, err, body)
		})
	default:
		w.local = true
	}
	if !w.local && !w.done && !x.over { // it has arrived, and waits for the others
		s.node.Record(x.link.Client(), trace.Exec{Conn: x.link.Name(), Request: Request{q}})
	}
	x.advance()
}

// sync calls f when the server has executed what the leader has proposed so far.
func (s *Server) sync(f func()) {
	if s.leader == s.id {
		s.whenApplied(s.raft.Last(), f)
		return
	}
	leader, valid := s.ensemble.servers[s.leader-1], s.serves()
	s.node.Peer(leader.node).Send(func() {
		if !leader.serving || !leader.Leads() {
			return
		}
		last := leader.raft.Last()
		leader.node.Peer(s.node).Send(func() {
			if valid() {
				s.whenApplied(last, f)
			}
		})
	})
}

// applyWait is what waits for an entry of the log to be executed.
type applyWait struct {
	index uint64
	f     func()
}

// whenApplied calls f when the server has executed the log up to an index.
func (s *Server) whenApplied(index uint64, f func()) {
	s.synced = append(s.synced, applyWait{index, f})
	s.Settled()
}

// advance answers the requests at the head of the queue that can be answered.
func (x *conn) advance() {
	for len(x.queue) > 0 && !x.over {
		w := x.queue[0]
		if w.local {
			x.execute(w)
		}
		if !w.done {
			return
		}
		x.queue = x.queue[1:]
		x.answer(w)
	}
}

func (x *conn) answer(w *item) {
	q := w.request
	if w.err == errSessionMoved { // an error of the connection, not of the request
		x.record(Request{q}, Answer{err: w.err})
		x.hangUp()
		return
	}
	if q.op != opPing {
		x.record(Request{q}, answerTo(q, w.zxid, w.err, w.body))
	}
	h := &writer{}
	h.int32(q.xid).int64(w.zxid).int32(int32(w.err))
	if w.err == ok {
		h.b = append(h.b, w.body...)
	}
	x.link.Send(h.packet())
	if q.op == opCloseSession || !q.op.known() {
		x.hangUp()
	}
}

func (x *conn) execute(w *item) {
	s, q := x.server, w.request
	w.done, w.zxid = true, s.tree.zxid
	if s.leader == s.id && q.op != opPing && q.op != opAuth && q.op != opSetWatches && q.op.known() {
		if w.err = s.checkSession(x.session, s.id); w.err != ok {
			return
		}
	}
	switch q.op {
	case opPing:
		w.request.xid = xidPing
	case opAuth:
		w.zxid = 0
		if q.scheme != "digest" {
			w.err = errAuthFailed
		}
	case opSetWatches:
		x.setWatches(q)
	case opExists, opGetData, opGetACL, opGetChildren, opGetChildren2:
		w.body, w.err = s.tree.read(q)
		if q.watch {
			x.watch(q, w.err)
		}
	default:
		w.zxid, w.err = 0, errUnimplemented
	}
}

func (x *conn) watch(q request, err code) {
	switch {
	case q.op == opExists && (err == ok || err == errNoNode), q.op == opGetData && err == ok:
		x.data[q.path] = true
	case err == ok:
		x.child[q.path] = true
	}
}

// setWatches sets watches again, after a new connection. What has happened meanwhile is told at once.
func (x *conn) setWatches(q request) {
	t := x.server.tree
	for kind, paths := range q.watches {
		for _, path := range paths {
			n := t.nodes[path]
			switch {
			case kind == existWatches && n != nil:
				x.notify(event{nodeCreated, path})
			case kind == existWatches:
				x.data[path] = true
			case n == nil:
				x.notify(event{nodeDeleted, path})
			case kind == dataWatches && n.mzxid > q.zxid:
				x.notify(event{nodeDataChanged, path})
			case kind == childWatches && n.pzxid > q.zxid:
				x.notify(event{nodeChildrenChanged, path})
			case kind == dataWatches:
				x.data[path] = true
			default:
				x.child[path] = true
			}
		}
	}
}

// watchesFor are the sets of paths that an event concerns.
func (x *conn) watchesFor(kind eventKind) []map[string]bool {
	switch kind {
	case nodeDeleted:
		return []map[string]bool{x.data, x.child}
	case nodeChildrenChanged:
		return []map[string]bool{x.child}
	}
	return []map[string]bool{x.data}
}

func (x *conn) notify(e event) {
	const connected = 3 // the state of the session, as clients see it
	w := &writer{}
	x.link.Send(w.int32(xidEvent).int64(-1).int32(0).int32(int32(e.kind)).int32(connected).string(e.path).packet())
}
