//go:build linux

package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"locksim/faults"
	"locksim/internal/dbworld"
	"locksim/internal/pgserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// client is who a backend answers.
type client interface {
	// Client is the name of the client, and Name that of its connection.
	Client() string
	Name() string
	// Send sends an answer, and Finish the end of the connection.
	Send(answer []byte)
	Finish()
}

// backend is a connection of a client, and the process of PostgreSQL that serves it. It is a [sim.Session].
type backend struct {
	machine *machine
	conn    client
	socket  dbworld.Socket

	id     int32 // what the client is told in place of pid
	pid    int32
	secret []byte

	in       []byte // of the client, not a whole message yet
	started  bool
	held     []message         // of the client, a request that is not whole yet
	prepared map[string]string // the statements that the client has prepared, by their names
	status   byte              // of ReadyForQuery: 'E' is a transaction that has failed
	back     []byte            // of the process, not a whole message yet
	out      []byte            // for the client, not sent yet
	owed     int               // messages ReadyForQuery that the process owes
	asked    Piece             // the messages for which it owes them
	noted    bool              // they are in the trace
	step     int               // the event of the last of them
	leases   leaseWork
	op       string   // what the statements are about: application_name
	pending  []string // writes that take effect when their transaction does
	undone   bool     // the last statement was a ROLLBACK
	waiting  bool     // for a lock: the process is stopped
	gone     bool

	due   pgserver.Timer // its timer; the zero value is for none
	timer *sim.Timer     // of the world, for that
}

// Accept implements [sim.Server].
func (m *machine) Accept(c *sim.ServerConn) sim.Session {
	switch {
	case m.pooler != nil:
		return &front{pooler: m.pooler, conn: c}
	case len(m.backends) >= crowd:
		return &refused{conn: c}
	}
	if b := m.backend(c); b != nil {
		return b
	}
	return nil
}

// crowd is the number of connections above which the machine refuses more, as PostgreSQL does above max_connections:
// the server has room for the timers of twice as many processes.
const crowd = 512

// refused is a connection that gets no process. It is a [sim.Session].
type refused struct {
	conn client
	in   []byte
	gone bool
}

// Data implements [sim.Session].
func (r *refused) Data(data []byte) {
	r.in = append(r.in, data...)
	for !r.gone {
		msg, rest, ok := next(r.in, false)
		if !ok {
			return
		}
		r.in = rest
		if len(msg) >= 8 && binary.BigEndian.Uint32(msg[4:])>>16 != version3>>16 {
			r.conn.Send([]byte{'N'}) // no TLS here
			continue
		}
		r.conn.Send(typed('E', []byte("SFATAL\x00VFATAL\x00C53300\x00Msorry, too many clients already\x00\x00")))
		r.EOF()
	}
}

// EOF implements [sim.Session].
func (r *refused) EOF() {
	if !r.gone {
		r.gone = true
		r.conn.Finish()
	}
}

// Reset implements [sim.Session].
func (r *refused) Reset() { r.gone = true }

// backend lets the server make a process for a client; nil if it makes none.
func (m *machine) backend(c client) *backend {
	s, err := dbworld.Dial(m.server.path)
	if err != nil {
		return nil
	}
	m.opened++
	b := &backend{machine: m, conn: c, socket: s, id: m.opened}
	m.backends = append(m.backends, b)
	return b
}

// EOF implements [sim.Session].
func (b *backend) EOF() {
	if !b.gone {
		b.leave()
		b.conn.Finish()
	}
	b.machine.settle(b.conn.Client())
}

// Reset implements [sim.Session].
func (b *backend) Reset() {
	b.leave()
	b.machine.settle("")
}

// leave closes the connection to the process, and waits until that is gone, and its locks with it.
func (b *backend) leave() {
	if b.gone {
		return
	}
	b.gone = true
	b.plan(pgserver.Timer{})
	b.resume()
	b.socket.Close()
	m := b.machine
	m.backends = slices.DeleteFunc(m.backends, func(o *backend) bool { return o == b })
	if b.pid == 0 {
		return
	}
	for looks := 0; !m.server.down && alive(b.pid); looks++ {
		if looks%asksAgain == 0 { // one that runs or waits does not look at its socket
			m.ask(fmt.Sprintf("SELECT pg_terminate_backend(%d)", b.pid))
		}
		dbworld.Pass(50 * time.Microsecond)
	}
}

// asksAgain is after how many looks at a process that is to end it is asked to end again: the question costs the server
// more than the end.
const asksAgain = 100

// alive reports whether there is a process that has not ended.
func alive(pid int32) bool { s := state(pid); return s != 0 && s != 'Z' }

// state is what a process does, as in /proc: 'R' runs, 'S' sleeps, 'T' is stopped, 'Z' has ended. 0: there is none.
func state(pid int32) byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/stat")
	if err != nil {
		return 0
	}
	if _, after, ok := bytes.Cut(text, []byte(") ")); ok && len(after) > 0 {
		return after[0]
	}
	return 0
}

// stop stops the process, so that it does not go on before the world lets it.
func (b *backend) stop() {
	b.waiting = true
	b.machine.waiting = append(b.machine.waiting, b)
	_ = syscall.Kill(int(b.pid), syscall.SIGSTOP)
	for s := state(b.pid); s != 'T' && s != 0 && s != 'Z'; s = state(b.pid) {
		dbworld.Pass(10 * time.Microsecond)
	}
}

// resume lets a process go on that was stopped.
func (b *backend) resume() {
	if b.waiting {
		b.waiting = false
		m := b.machine
		m.waiting = slices.DeleteFunc(m.waiting, func(o *backend) bool { return o == b })
		_ = syscall.Kill(int(b.pid), syscall.SIGCONT)
	}
}

// Data implements [sim.Session].
func (b *backend) Data(data []byte) {
	if b.gone {
		return
	}
	m := b.machine
	m.tick()
	b.in = append(b.in, data...)
	var batch []byte
	ends := false
	for {
		msg, rest, ok := next(b.in, b.started)
		if !ok {
			break
		}
		b.in = rest
		if !b.started && len(msg) >= 8 {
			switch binary.BigEndian.Uint32(msg[4:]) {
			case codeCancel:
				b.cancel(msg)
				return
			case codeTLS, codeGSS:
				b.conn.Send([]byte{'N'}) // not here
				continue
			}
			b.started = true
			b.asked = append(b.asked, "start")
			b.owed++
			batch = append(batch, msg...)
			continue
		}
		if b.started {
			b.asked = append(b.asked, word(sim.Up, msg))
			if msg.kind() == 'Q' || msg.kind() == 'S' {
				b.owed++
			}
			ends = ends || msg.kind() == 'X'
		}
		batch = b.request(batch, msg)
	}
	if err := b.socket.Write(batch); err != nil {
		b.leave()
		b.conn.Finish()
	}
	m.settle(b.conn.Client())
	if ends && !b.waiting { // its locks are gone before anything else happens
		b.EOF()
	}
}

// request adds a message to a batch for the process, when the request is whole: that of the extended
// protocol ends with Sync. One that a fault makes the server refuse is a statement that fails, so that
// the process knows what has become of the transaction.
func (b *backend) request(batch []byte, msg message) []byte {
	b.held = append(b.held, msg)
	switch msg.kind() {
	case 'P', 'B', 'D', 'E', 'C':
		return batch
	}
	held := b.held
	b.held = nil
	if kind := msg.kind(); kind == 'Q' || kind == 'S' {
		if answer, ok := b.refused(held); ok {
			return append(batch, typed('Q', append([]byte(raising[answer]), 0))...)
		}
	}
	for _, m := range held {
		batch = append(batch, m...)
	}
	return batch
}

// raising are statements that fail as those do that meet an error.
var raising = map[faults.ReplyError]string{
	faults.ReplyDeadlock: `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01', MESSAGE = 'deadlock detected'; END $$`,
	faults.ReplyTimeout:  `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '57014', MESSAGE = 'canceling statement due to statement timeout'; END $$`,
}

// refused is the error with which a fault makes the server answer a request.
func (b *backend) refused(request []message) (answer faults.ReplyError, ok bool) {
	works := false
	for _, m := range request {
		text := ""
		switch m.kind() {
		case 'Q':
			text, _ = cString(m.body())
		case 'P':
			name, rest := cString(m.body())
			if b.prepared == nil {
				b.prepared = map[string]string{}
			}
			b.prepared[name], _ = cString(rest)
		case 'B':
			_, rest := cString(m.body())
			name, _ := cString(rest)
			text = b.prepared[name]
		}
		works = works || isWork(text)
		b.leases.asked(b.machine.kind.Leases, text)
	}
	if !works || b.status == 'E' {
		return "", false
	}
	for _, answer := range faults.ReplyErrors(Name) {
		if b.machine.node.Refused(answer) {
			return answer, true
		}
	}
	return "", false
}

// controlling are the first words of statements that begin or end a transaction, or concern the session.
var controlling = []string{
	"", "ABORT", "BEGIN", "COMMIT", "DEALLOCATE", "DISCARD", "END", "LISTEN", "RELEASE", "RESET", "ROLLBACK", "SAVEPOINT",
	"SET", "SHOW", "START",
	"UNLISTEN",
}

// isWork reports whether a statement reads or writes.
func isWork(statement string) bool {
	words := strings.FieldsFunc(statement, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == ';' })
	return len(words) > 0 && !strings.HasPrefix(words[0], "--") && !slices.Contains(controlling, strings.ToUpper(words[0]))
}

// cancel passes the cancellation of another connection's statement on, and waits until the server has dealt with it.
func (b *backend) cancel(msg message) {
	m := b.machine
	id := int32(binary.BigEndian.Uint32(msg[8:]))
	if i := slices.IndexFunc(m.backends, func(o *backend) bool { return o.id == id && o.secret != nil }); i >= 0 {
		other := m.backends[i]
		real := slices.Clone(msg)
		binary.BigEndian.PutUint32(real[8:], uint32(other.pid))
		copy(real[12:], other.secret)
		_ = b.socket.Write(real)
		buffer := make([]byte, 1)
		for _, err := b.socket.Read(buffer); errors.Is(err, dbworld.ErrIdle); _, err = b.socket.Read(buffer) {
			b.socket.Wait(time.Second) // the server closes it when the signal is sent
		}
		other.resume()
		other.quiet()
	}
	b.leave()
	b.conn.Finish()
	m.settle(b.conn.Client())
}

// soon is the real time in which a process answers most statements. It is asked what it does only after that.
const soon = 200 * time.Microsecond

// work lets the process work until it has answered, or waits for a lock.
func (b *backend) work() {
	for b.owed > 0 {
		msg, err := b.read()
		switch {
		case err == nil:
			b.take(msg)
			continue
		case !errors.Is(err, dbworld.ErrIdle):
			b.end()
			return
		}
		b.socket.Wait(soon)
		if !b.readable() && b.pid != 0 && state(b.pid) == 'S' {
			switch why := b.machine.waits(b.pid); {
			case why == forNothing || b.readable():
			case why == forLock:
				b.record(nil) // for a lock that another backend has
				b.stop()
				return
			default:
				b.machine.node.Fail(fmt.Errorf("%s: PostgreSQL waits for time to pass in %q: statements such as pg_sleep never "+
					"end here",
					b.conn.Client(), strings.Join(b.asked, "; ")))
				b.leave()
				return
			}
		}
	}
	b.flush()
}

// readable reports whether the process has sent something.
func (b *backend) readable() bool {
	if len(b.back) > 0 {
		return true
	}
	buffer := make([]byte, 16<<10)
	n, err := b.socket.Read(buffer)
	b.back = append(b.back, buffer[:n]...)
	return !errors.Is(err, dbworld.ErrIdle)
}

func (b *backend) read() (message, error) {
	for {
		if msg, rest, ok := next(b.back, true); ok {
			b.back = rest
			return msg, nil
		}
		buffer := make([]byte, 16<<10)
		n, err := b.socket.Read(buffer)
		if err != nil {
			return nil, err
		}
		b.back = append(b.back, buffer[:n]...)
	}
}

// take takes a message of the process for the client, without what differs between equal runs.
func (b *backend) take(msg message) {
	switch msg.kind() {
	case 'K':
		b.pid = int32(binary.BigEndian.Uint32(msg.body()))
		b.secret = slices.Clone(msg[9:])
		msg = slices.Clone(msg)
		binary.BigEndian.PutUint32(msg[5:], uint32(b.id))
		clear(msg[9:])
	case 'T':
		msg = withoutTables(msg)
	case 'E':
		if code := field(msg, 'C'); code == "40P01" || code == "57014" {
			msg = withoutDetails(msg)
		}
		b.record(trace.Text(word(sim.Down, msg)))
	case 'C':
		tag, _ := cString(msg.body())
		b.record(trace.Text(tag))
		b.decide(tag)
		b.leases.done(tag)
	case 'S':
		if name, rest := cString(msg.body()); name == "application_name" {
			b.op, _ = cString(rest)
		}
	case 'Z':
		if !b.noted {
			b.record(trace.Text("ready"))
		}
		b.status = msg.body()[0]
		b.commit(b.status)
		b.lookAtLeases(b.status)
		b.owed--
		b.asked, b.noted = nil, false
	}
	b.out = append(b.out, msg...)
}

// decide decides the operation that a statement is about, by what has become of the statement. A fence refuses by
// changing no row. A read whose fence changes a row has read when it has selected.
func (b *backend) decide(tag string) {
	op, ok := b.machine.server.ops.Op(b.op)
	verb, _, _ := strings.Cut(tag, " ")
	switch {
	case !ok:
	case tag == "UPDATE 0":
		op.Refused = "no row fits the fence"
		b.decided(op)
	case op.Write && verb == "UPDATE":
		b.pending = append(b.pending, b.op)
	case !op.Write && verb == "SELECT":
		b.decided(op)
	}
	b.undone = tag == "ROLLBACK"
}

// commit decides the writes of a transaction that has ended: status is that of ReadyForQuery. ROLLBACK TO SAVEPOINT
// ends none.
func (b *backend) commit(status byte) {
	if status != 'I' {
		return
	}
	for _, id := range b.pending {
		if op, ok := b.machine.server.ops.Op(id); ok && !b.undone {
			b.decided(op)
		}
	}
	b.pending = nil
}

// decided puts a decision into the trace.
func (b *backend) decided(op trace.Decision) {
	b.machine.server.ops.Decided(op.Op)
	op.Conn = b.conn.Name()
	b.machine.truth.Did(b.machine.node.Record(b.conn.Client(), op), b.conn.Client(), "")
}

// record records what became of a request; nil is for one that has no answer yet.
func (b *backend) record(answer trace.Content) {
	b.noted = true
	b.step = b.machine.node.Record(b.conn.Client(), trace.Exec{Conn: b.conn.Name(), Request: b.asked, Answer: answer})
	b.machine.truth.Did(b.step, b.conn.Client(), b.asked.Kind())
}

// flush sends what the process has said.
func (b *backend) flush() {
	if len(b.out) > 0 {
		b.conn.Send(b.out)
		b.out = nil
	}
}

// end ends the connection after its process has: with what that has said last.
func (b *backend) end() {
	b.flush()
	b.leave()
	b.conn.Finish()
}

// withoutTables is a description of rows without the object ids of their tables.
func withoutTables(msg message) message {
	msg = slices.Clone(msg)
	b := msg.body()[2:]
	for len(b) > 0 {
		_, rest := cString(b)
		clear(rest[:4])
		b = rest[18:]
	}
	return msg
}

// withoutDetails is an error without the process ids of a deadlock.
func withoutDetails(msg message) message {
	var body []byte
	for b := msg.body(); len(b) > 1; {
		code := b[0]
		text, rest := cString(b[1:])
		if code != 'D' && code != 'W' {
			body = append(append(append(body, code), text...), 0)
		}
		b = rest
	}
	return typed('E', append(body, 0))
}

// plan plans the timer of the process; the zero value is for none.
func (b *backend) plan(due pgserver.Timer) {
	if due == b.due {
		return
	}
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.due = due
	if due.PID != 0 {
		b.timer = b.machine.node.After(due.Due.Sub(b.machine.node.Now()), b.fire)
	}
}

func (b *backend) fire() {
	m := b.machine
	m.tick()
	due := b.due
	b.due, b.timer = pgserver.Timer{}, nil
	if m.node.Now().Before(due.Due) { // the clock was set back: the process would set its timer anew
		b.plan(due)
		return
	}
	b.resume()
	if err := m.server.real.Fire(due); err != nil {
		m.node.Fail(fmt.Errorf("fire a timer of PostgreSQL: %w", err))
		return
	}
	b.quiet()
	if b.owed == 0 { // it was idle: it may have something to say, or have ended
		for {
			msg, err := b.read()
			if errors.Is(err, dbworld.ErrIdle) {
				b.flush()
				break
			}
			if err != nil {
				b.end()
				break
			}
			b.take(msg)
		}
	}
	m.settle("")
}

// quiet waits until a process has dealt with its signals, and sleeps or has ended.
func (b *backend) quiet() {
	for {
		if s := state(b.pid); (s == 'S' && !pending(b.pid)) || s == 0 || s == 'Z' {
			return
		}
		dbworld.Pass(10 * time.Microsecond)
	}
}

// signals are those that the world sends: SIGALRM, and SIGINT for a cancellation.
const signals = 1<<(syscall.SIGALRM-1) | 1<<(syscall.SIGINT-1)

// pending reports whether a process has signals that it has not dealt with.
func pending(pid int32) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); name == "SigPnd" || name == "ShdPnd" {
			if mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil && mask&signals != 0 {
				return true
			}
		}
	}
	return false
}
