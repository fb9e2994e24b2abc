//go:build linux

package mariadb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/internal/dbworld"
	"locksim/internal/mariadbserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// asking is a command that the server has not answered yet.
type asking struct {
	command   byte
	statement string // what it executes
	words     string
}

// session is a connection of a client, and the thread of MariaDB that serves it. It is a [sim.Session].
type session struct {
	machine *machine
	conn    *sim.ServerConn
	socket  dbworld.Socket

	id    int32  // what the client is told in place of real
	real  uint32 // 0 until it has greeted
	entry int    // of its thread
	born  int64

	in       []byte            // of the client, not a whole packet yet
	eof      bool              // its answers have packets for the ends of columns
	started  bool              // the client has answered the greeting
	prepared map[uint32]string // the statements that the client has prepared
	asked    []asking
	back     []byte // of the thread, not a whole answer yet
	out      []byte // for the client, not sent yet
	noted    bool   // the first of asked is in the trace
	step     int    // its event
	pending  []string
	undone   bool // the last statement was a ROLLBACK, or has made one
	leases   leaseWork
	gone     bool

	due   mariadbserver.Thread // what timer is for
	timer *sim.Timer
}

// Accept implements [sim.Server].
func (m *machine) Accept(c *sim.ServerConn) sim.Session {
	m.tick()
	if m.server.down {
		return nil
	}
	m.opened++
	s := &session{machine: m, conn: c, id: m.opened, eof: true, prepared: map[uint32]string{}}
	socket, thread, err := open(m.server.real)
	s.socket = socket
	switch {
	case errors.Is(err, errRefused):
		s.entry = -1
		s.read() // it says why
		return s
	case err != nil:
		m.failed(err)
		return nil
	}
	s.entry, s.born = thread.Entry, thread.Born
	m.sessions = append(m.sessions, s)
	s.read()
	m.settle("")
	return s
}

// EOF implements [sim.Session].
func (s *session) EOF() {
	if !s.gone {
		s.leave()
		s.conn.Finish()
	}
	s.machine.settle(s.conn.Client())
}

// Reset implements [sim.Session].
func (s *session) Reset() {
	s.leave()
	s.machine.settle("")
}

// leave closes the connection to the thread. One that waits for a lock does not notice: it stays in the queue.
func (s *session) leave() {
	if s.gone {
		return
	}
	s.gone = true
	s.socket.Close()
	m := s.machine
	if m.server.down || s.entry < 0 {
		s.plan(nil)
		m.sessions = slices.DeleteFunc(m.sessions, func(o *session) bool { return o == s })
		return
	}
	m.server.real.Message(s.entry)
	m.work()
}

// Data implements [sim.Session].
func (s *session) Data(data []byte) {
	if s.gone {
		return
	}
	m := s.machine
	m.tick()
	if s.gone || m.server.down {
		return
	}
	s.in = append(s.in, data...)
	var batch []byte
	ends := false
	for {
		p, rest, ok := next(s.in)
		if !ok {
			break
		}
		s.in = rest
		ends = ends || s.started && p.head() == comQuit
		batch = append(batch, s.request(p)...)
	}
	if err := s.socket.Write(batch); err != nil {
		s.leave()
		s.conn.Finish()
	} else if t := s.thread(); t.Wait == mariadbserver.ForMessage {
		m.server.real.Message(s.entry)
	}
	m.settle(s.conn.Client())
	if ends { // its locks are gone before anything else happens
		s.EOF()
	}
}

// thread is that of the session; the zero value if it has ended.
func (s *session) thread() mariadbserver.Thread {
	for _, t := range s.machine.server.real.Threads() {
		if t.Entry == s.entry && t.Born == s.born {
			return t
		}
	}
	return mariadbserver.Thread{}
}

// request is what the server gets for a packet of the client: one that a fault makes the server refuse is a statement
// that fails, so that the server knows what has become of the transaction.
func (s *session) request(p packet) packet {
	if !s.started {
		s.started = true
		if body := p.body(); len(body) >= 4 {
			s.eof = binary.LittleEndian.Uint32(body)&withoutEOF == 0
		}
		s.asked = append(s.asked, asking{words: "login"})
		return p
	}
	a := asking{command: p.head(), words: command(p)}
	switch body := p.body(); a.command {
	case comQuery, comPrepare:
		a.statement = string(body[1:])
	case comExecute:
		if len(body) >= 5 {
			a.statement = s.prepared[binary.LittleEndian.Uint32(body[1:])]
			a.words = "execute " + words(a.statement)
		}
	}
	if silent(a.command) || p.number() != 0 { // or the rest of a long one
		return p
	}
	if a.command != comPrepare {
		s.leases.asked(s.machine.kind.Leases, a.statement)
	}
	s.asked = append(s.asked, a)
	verb := first(a.statement)
	s.machine.limited = s.machine.limited || strings.Contains(strings.ToLower(a.statement), "max_statement_time")
	s.machine.server.changed = s.machine.server.changed || slices.Contains(changing, verb)
	if a.command != comQuery && a.command != comExecute || slices.Contains(controlling, verb) {
		return p
	}
	for _, answer := range faults.ReplyErrors(Name) {
		if s.machine.node.Refused(answer) {
			s.asked[len(s.asked)-1].command = comQuery
			return framed(0, append([]byte{comQuery}, raising[answer]...)...)
		}
	}
	return p
}

// raising are statements that fail as those do that meet an error. A deadlock ends the transaction.
var raising = map[faults.ReplyError]string{
	faults.ReplyDeadlock: `BEGIN NOT ATOMIC ROLLBACK; SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = ` +
		`'Deadlock found when trying to get lock; try restarting transaction'; END`,
	faults.ReplyTimeout: `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = ` +
		`'Lock wait timeout exceeded; try restarting transaction'`,
}

// controlling are the first words of statements that begin or end a transaction, or concern the session.
var controlling = []string{
	"", "BEGIN", "COMMIT", "DEALLOCATE", "RELEASE", "ROLLBACK", "SAVEPOINT", "SET", "SHOW", "START", "USE", "KILL",
}

// changing are the first words of statements that change the schema.
var changing = []string{"CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "BEGIN"}

// first is the first word of a statement, after comments.
func first(statement string) string {
	for {
		statement = strings.TrimLeft(statement, " \t\r\n;(")
		after, ok := strings.CutPrefix(statement, "/*")
		if !ok {
			break
		}
		if _, statement, ok = strings.Cut(after, "*/"); !ok {
			return ""
		}
	}
	word, _, _ := strings.Cut(strings.Join(strings.Fields(statement), " "), " ")
	return strings.ToUpper(strings.TrimRight(word, ";"))
}

// Comment is what a client puts before each statement of an operation that it has told [Server.Op].
func Comment(op string) string { return "/* op " + op + " */ " }

var comment = regexp.MustCompile(`^/\* op (\S+) \*/ `)

// read takes what the thread has said, and sends what is whole.
func (s *session) read() {
	if s.gone {
		return
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.socket.Read(buffer)
		s.back = append(s.back, buffer[:max(n, 0)]...)
		if errors.Is(err, dbworld.ErrIdle) {
			break
		}
		if err != nil {
			s.take()
			s.out = append(s.out, s.back...)
			s.flush()
			s.leave()
			s.conn.Finish()
			return
		}
	}
	s.take()
	s.flush()
}

// take takes the whole answers of the thread for the client, without what differs between equal runs.
func (s *session) take() {
	for len(s.back) > 0 {
		if s.real == 0 {
			p, rest, ok := next(s.back)
			if !ok {
				return
			}
			if p.head() == 10 {
				var err error
				if p, s.real, err = hidden(p, s.id); err != nil {
					s.machine.node.Fail(err)
				}
			}
			s.out, s.back = append(s.out, p...), rest
			continue
		}
		if len(s.asked) == 0 { // it says that it ends the connection
			s.out, s.back = append(s.out, s.back...), nil
			return
		}
		r, rest, ok, err := parse(s.back, s.asked[0].command, s.eof)
		if err != nil {
			s.machine.node.Fail(fmt.Errorf("%s: an answer to %q: %w", s.conn.Client(), s.asked[0].words, err))
		}
		if !ok {
			return
		}
		s.out = append(s.out, s.back[:len(s.back)-len(rest)]...)
		s.back = rest
		s.answered(r)
	}
}

// answered puts an answer into the trace, and says what it decides.
func (s *session) answered(r reply) {
	a := s.asked[0]
	s.record(r.said())
	if r.prepared != 0 {
		s.prepared[r.prepared] = a.statement
	}
	s.asked, s.noted = s.asked[1:], false
	if a.command != comQuery && a.command != comExecute {
		return
	}
	s.decide(a, r)
	open := r.status&inTransaction != 0
	if r.failure != nil { // it does not say
		switch r.failure.code {
		case 1213: // a deadlock ends the transaction
			s.undone, open = true, false
		case 1205: // a statement of it has failed
			open = true
		default:
			open = len(s.pending) > 0
		}
	}
	if !open {
		s.commit()
		s.lookAtLeases(a)
	}
}

// decide decides the operation that a statement is about, by what has become of the statement. A fence refuses by
// changing no row. A read whose fence changes a row has read when it has selected.
func (s *session) decide(a asking, r reply) {
	verb := first(a.statement)
	s.undone = verb == "ROLLBACK"
	s.leases.done(r)
	m := comment.FindStringSubmatch(a.statement)
	if m == nil || r.failure != nil {
		return
	}
	op, ok := s.machine.server.ops.Op(m[1])
	switch {
	case !ok:
	case verb == "UPDATE" && r.affected == 0:
		op.Refused = "no row fits the fence"
		s.decided(op)
	case op.Write && verb == "UPDATE":
		s.pending = append(s.pending, op.Op)
	case !op.Write && verb == "SELECT":
		s.decided(op)
	}
}

// commit decides the writes of a transaction that has ended.
func (s *session) commit() {
	for _, id := range s.pending {
		if op, ok := s.machine.server.ops.Op(id); ok && !s.undone {
			s.decided(op)
		}
	}
	s.pending = nil
}

// decided puts a decision into the trace.
func (s *session) decided(op trace.Decision) {
	m := s.machine
	m.server.ops.Decided(op.Op)
	op.Conn = s.conn.Name()
	m.truth.Did(m.node.Record(s.conn.Client(), op), s.conn.Client(), "")
}

// record records what became of a request; nil is for one that has no answer yet.
func (s *session) record(answer trace.Content) {
	s.noted = true
	request := Piece{s.asked[0].words}
	s.step = s.machine.node.Record(s.conn.Client(), trace.Exec{Conn: s.conn.Name(), Request: request, Answer: answer})
	s.machine.truth.Did(s.step, s.conn.Client(), request.Kind())
}

// flush sends what the thread has said.
func (s *session) flush() {
	if len(s.out) > 0 {
		s.conn.Send(s.out)
		s.out = nil
	}
}

// plan plans the end of the wait of the thread; nil is for one that has none.
func (s *session) plan(t *mariadbserver.Thread) {
	if t != nil && s.timer != nil && t.Due == s.due.Due && t.Since == s.due.Since {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if t != nil {
		s.due = *t
		s.timer = s.machine.node.After(max(0, s.machine.server.real.Left(*t)), s.fire)
	}
}

func (s *session) fire() {
	m := s.machine
	s.timer = nil
	m.tick()
	t := s.thread()
	if t.Wait != 0 && t.Due == s.due.Due && m.server.real.Left(t) <= 0 { // else the clock was set back, or it has gone on
		m.server.real.Late(t.Entry)
	}
	m.settle("")
}
