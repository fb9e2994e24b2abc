//go:build linux

package mariadb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/internal/dbworld"
	"locksim/internal/mariadbserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// Name is the name of the server in a world.
const Name = "m0"

// port is its port.
const port = 3306

// crowd is the number of connections above which the server refuses more.
const crowd = 300

// Server is a real MariaDB for simulated worlds, one after another. It is a [sim.Kind].
type Server struct {
	real    *mariadbserver.Server
	control *control
	down    bool // it has crashed

	schema  []string // that its database was made by
	tables  []string // of that schema; nil if they cannot be emptied
	changed bool     // a client may have changed the schema

	has *machine // in the world that has the server; nil between two worlds
	ops dbworld.Ops
}

// Op takes note of an operation on the protected data of a run, which a client is about to send. The client puts
// [Comment] before the statements of the operation, so that the trace says when they took effect, as it does for the
// store. Any goroutine may call it.
func (s *Server) Op(op trace.Decision) { s.ops.Note(op) }

// Kind is the server with a database that is not empty when a world begins. It is a [sim.Kind].
type Kind struct {
	Server *Server
	// Schema are statements that make what the clients expect to be there.
	Schema []string
	// Value is the query for the value of a register of the protected data; nil if there is none.
	Value func(resource, register string) string
	// Leases are tables with leases, whose changes belong to the ground truth.
	Leases []LeaseTable
}

// Build implements [sim.Kind].
func (k Kind) Build(b *sim.Builder) {
	b.Add(Name, port, func(n *sim.Node) sim.Server { return newMachine(n, k) })
}

// Start starts a MariaDB. It must be called outside of any world. The error wraps [mariadbserver.ErrMissing] or
// [mariadbserver.ErrNoCompiler] where something has to be installed.
func Start(ctx context.Context) (*Server, error) {
	real, err := mariadbserver.Start(ctx, mariadbserver.Options{Turns: true, Settings: []string{
		fmt.Sprintf("max-connections=%d", crowd), "thread-cache-size=0", "skip-name-resolve", "default-time-zone=+00:00",
		"innodb-purge-threads=1", "innodb-stats-persistent=0", "innodb-stats-auto-recalc=0", "innodb-file-per-table=0",
		"innodb-buffer-pool-dump-at-shutdown=0", "innodb-buffer-pool-load-at-startup=0", "innodb-status-output-locks=1",
		"plugin-load-add=metadata_lock_info", "innodb-deadlock-report=off",
	}})
	if err != nil {
		return nil, err
	}
	s := &Server{real: real}
	if s.control, err = connect(real); err != nil {
		_ = real.Stop()
		return nil, fmt.Errorf("connect to MariaDB: %w", err)
	}
	return s, nil
}

// Stop ends the server, and removes all that it has.
func (s *Server) Stop() error {
	s.control.socket.Close()
	return s.real.Stop()
}

// OutOfTurn is how often a thread of the server went on although another one was at work, and had the turn: runs may
// differ then. It is for tests, and 0.
func (s *Server) OutOfTurn() int { return s.real.OutOfTurn() }

// Build implements [sim.Kind].
func (s *Server) Build(b *sim.Builder) {
	Kind{Server: s}.Build(b)
}

// machine is the server in a world.
type machine struct {
	node     *sim.Node
	server   *Server
	kind     Kind
	sessions []*session // in the order in which they have connected
	opened   int32
	truth    dbworld.Truth
	timer    *sim.Timer    // of what the server does by itself, while a session waits for that
	tidied   time.Duration // when it last had the time for what it does by itself
	limited  bool          // a client has set max_statement_time, which a thread of the server watches
}

// tidying is how often at most the server has time for what it does by itself, as long as no session waits for that: it
// would do some of it ten times in a second.
const tidying = 5 * time.Second

// newMachine takes the server over from the world before. Worlds of a process come one after another, so that one which
// still has it was frozen, or ended as its program would, and never gives it back.
func newMachine(n *sim.Node, k Kind) *machine {
	s := k.Server
	if s.has != nil {
		s.has.desert()
	}
	s.ops.Clear()
	m := &machine{node: n, server: s, kind: k}
	m.truth = dbworld.Truth{Node: n, Client: m.client}
	s.has = m
	if s.down { // the last world ended so
		m.start()
	}
	m.tick()
	m.empty()
	if s.tables == nil { // they are not empty
		m.truth.Begin(m.leasesNow(true))
	}
	return m
}

// empty makes the database as it is at the beginning of a world.
func (m *machine) empty() {
	s := m.server
	if s.schema != nil && !s.changed && s.tables != nil && slices.Equal(s.schema, m.kind.Schema) {
		for _, table := range s.tables {
			m.ask("TRUNCATE TABLE " + table)
		}
		return
	}
	m.ask("DROP DATABASE IF EXISTS " + mariadbserver.Database)
	m.ask("CREATE DATABASE " + mariadbserver.Database + " CHARACTER SET utf8mb4")
	m.ask("USE " + mariadbserver.Database)
	for _, statement := range m.kind.Schema {
		m.ask(statement)
	}
	s.schema, s.tables, s.changed = append([]string{}, m.kind.Schema...), m.tables(), false
}

// tables are the tables of the schema, if they can be emptied; nil if one has rows, or if there is something else.
func (m *machine) tables() []string {
	all := []string{}
	for _, row := range m.ask("SELECT table_type, CONCAT('`', REPLACE(table_name, '`', '``'), '`') FROM " +
		"information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name") {
		if row[0] != "BASE TABLE" || len(m.ask("SELECT 1 FROM "+row[1]+" LIMIT 1")) > 0 {
			return nil
		}
		all = append(all, row[1])
	}
	return all
}

// ask asks the server itself, in no virtual time. It ends the run if that fails.
func (m *machine) ask(statement string) [][]string {
	rows, err := m.server.control.query(statement)
	if err != nil {
		m.node.Fail(fmt.Errorf("ask MariaDB: %w", err))
	}
	return rows
}

// tick sets the server's clocks to those of the machine, and now and then lets it do what it does by itself, which is
// due by then.
func (m *machine) tick() {
	s := m.server
	if s.down {
		return
	}
	since := m.node.Monotonic()
	s.real.SetTime(m.node.Now(), since)
	if since-m.tidied >= tidying || m.timer != nil {
		m.tidied = since
		m.lateOnes()
	}
	m.work()
}

// lateOnes ends the waits of threads without a client that are due.
func (m *machine) lateOnes() {
	s := m.server
	var due []mariadbserver.Thread
	for _, t := range s.real.Threads() {
		if t.Due != mariadbserver.Never && s.real.Left(t) <= 0 && t.Entry != s.control.entry && m.session(t) == nil {
			due = append(due, t)
		}
	}
	slices.SortStableFunc(due, func(a, b mariadbserver.Thread) int { return int(s.real.Left(a) - s.real.Left(b)) })
	for _, t := range due {
		s.real.Late(t.Entry)
	}
}

// session is that of a thread; nil if it has none.
func (m *machine) session(t mariadbserver.Thread) *session {
	for _, s := range m.sessions {
		if s.entry == t.Entry && s.born == t.Born {
			return s
		}
	}
	return nil
}

// client is the client of a session; false if the session has ended.
func (m *machine) client(id int32) (string, bool) {
	for _, s := range m.sessions {
		if s.id == id {
			return s.conn.Client(), true
		}
	}
	return "", false
}

// ClockChanged implements [sim.ClockFollower].
func (m *machine) ClockChanged() {
	m.tick()
	m.settle("")
}

// ReplyErrors implements [sim.ErrorReplier].
func (*machine) ReplyErrors() []faults.ReplyError { return faults.ReplyErrors(Name) }

// Close implements [sim.Closer].
func (m *machine) Close() {
	for _, s := range slices.Clone(m.sessions) {
		s.leave()
	}
	m.alone()
	m.plan(nil)
	m.server.has = nil
}

// desert ends the sessions of a world that stands still for ever. Its timers are left alone: they are of its bubble.
func (m *machine) desert() {
	m.timer = nil
	for _, s := range slices.Clone(m.sessions) {
		s.timer = nil
		s.leave()
	}
	m.alone()
	m.server.has = nil
}

// alone ends the sessions whose clients have gone, and which wait for something.
func (m *machine) alone() {
	for _, s := range slices.Clone(m.sessions) {
		if !m.server.down {
			_, _ = m.server.control.query(fmt.Sprintf("KILL CONNECTION %d", s.real)) // it may have ended
		}
	}
	m.work()
	if m.server.down {
		return
	}
	m.ended()
	if len(m.sessions) > 0 { // none of this world may be there in the next one
		m.down()
	}
}

// Value is the value of a register of the protected data.
func (m *machine) Value(resource, register string) string {
	if m.kind.Value == nil {
		return ""
	}
	for _, row := range m.ask(m.kind.Value(resource, register)) {
		return row[0]
	}
	return ""
}

// Crash implements [sim.Crasher]: the process of the server is killed. What was committed is on the disk, so a loss of
// power loses no more than that.
func (m *machine) Crash(faults.CrashMode) {
	m.down()
	m.tell("")
	m.truth.Told()
}

func (m *machine) down() {
	m.server.down = true
	m.server.control.socket.Close()
	if err := m.server.real.Crash(); err != nil {
		m.node.Fail(fmt.Errorf("crash MariaDB: %w", err))
	}
	for _, s := range m.sessions {
		s.plan(nil)
	}
	m.plan(nil)
}

// Restart implements [sim.Restarter]: the server recovers.
func (m *machine) Restart(int) { m.start() }

// start starts the server after a crash. Its recovery takes no virtual time.
func (m *machine) start() {
	s := m.server
	m.sessions = nil
	s.real.SetTime(m.node.Now(), m.node.Monotonic())
	err := s.real.Run()
	if err == nil {
		err = s.real.Recover()
	}
	if err == nil {
		s.control, err = connect(s.real)
	}
	if err == nil {
		_, err = s.control.query("USE " + mariadbserver.Database)
	}
	if err != nil && !strings.Contains(err.Error(), "Unknown database") {
		m.node.Fail(fmt.Errorf("restart MariaDB: %w", err))
		return
	}
	s.down = false
}

// Describe implements [sim.Describer].
func (*machine) Describe(dir sim.Direction, b []byte) trace.Content { return describe(dir, b) }

// JoinWrites implements [sim.Joiner].
func (*machine) JoinWrites() {}

// Canonical implements [sim.Canonical]: a driver tells the server facts of its machine, such as the id of its process.
func (*machine) Canonical(b []byte) []byte {
	if p, rest, ok := next(b); ok && len(rest) == 0 && p.number() == 1 {
		return bytes.Clone(plain(p))
	}
	return bytes.Clone(b)
}

// settle lets the sessions work, and tells what has changed of the watched locks by what a client has sent; by is empty
// if none has.
func (m *machine) settle(by string) {
	if !m.server.down {
		m.work()
		for _, s := range m.sessions {
			if len(s.asked) > 0 && !s.noted && !s.gone {
				s.record(nil) // it waits for something that another one has
			}
		}
		m.planTimers()
	}
	m.tell(by)
	m.truth.Told()
}

// work gives turns until all threads wait, and takes what they say after each.
func (m *machine) work() {
	for !m.server.down {
		more, err := m.server.real.Turn(-1, m.read)
		if err != nil {
			m.failed(err)
			return
		}
		if !more {
			return
		}
		m.read()
	}
}

func (m *machine) failed(err error) {
	m.node.Fail(fmt.Errorf("%s: %w", Name, err))
	if errors.Is(err, mariadbserver.ErrExited) {
		m.down()
	}
}

// read takes what the sessions have said.
func (m *machine) read() {
	for _, s := range slices.Clone(m.sessions) {
		s.read()
	}
}

// ended removes the sessions whose threads have ended, and returns those of the rest, by their entries.
func (m *machine) ended() map[int]mariadbserver.Thread {
	threads := map[int]mariadbserver.Thread{}
	for _, t := range m.server.real.Threads() {
		threads[t.Entry] = t
	}
	m.sessions = slices.DeleteFunc(m.sessions, func(s *session) bool {
		over := s.gone && threads[s.entry].Born != s.born
		if over {
			s.plan(nil)
		}
		return over
	})
	return threads
}

// planTimers plans what the threads do when time has passed. What the server does by itself waits for the next message
// of a client, unless a session waits for it.
func (m *machine) planTimers() {
	threads := m.ended()
	busy := false
	for _, s := range m.sessions {
		t := threads[s.entry]
		if t.Born != s.born || t.Due == mariadbserver.Never {
			busy = busy || t.Wait == mariadbserver.ForCondition
			s.plan(nil)
			continue
		}
		s.plan(&t)
	}
	if !busy && !m.limited {
		m.plan(nil)
		return
	}
	var first *mariadbserver.Thread
	for _, t := range m.server.real.Threads() {
		if t.Due != mariadbserver.Never && t.Entry != m.server.control.entry && m.session(t) == nil &&
			(first == nil || m.server.real.Left(t) < m.server.real.Left(*first)) {
			first = &t
		}
	}
	m.plan(first)
}

// plan plans what the server does by itself; nil is for nothing.
func (m *machine) plan(next *mariadbserver.Thread) {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	if next != nil {
		m.timer = m.node.After(max(0, m.server.real.Left(*next)), func() {
			m.tick()
			m.timer = nil
			m.settle("")
		})
	}
}

// control is a connection for questions about the server. Its queries take no virtual time.
type control struct {
	real   *mariadbserver.Server
	socket dbworld.Socket
	entry  int
	in     []byte
}

// open makes a connection, whose thread has sent its greeting. Its error is that of the server if that refuses it.
func open(real *mariadbserver.Server) (s dbworld.Socket, t mariadbserver.Thread, err error) {
	before := map[int64]bool{}
	listener := -1
	for _, t := range real.Threads() {
		before[t.Born] = true
		if t.Main {
			listener = t.Entry
		}
	}
	if s, err = dbworld.Dial(real.Socket()); err != nil {
		return s, t, err
	}
	real.Message(listener)
	for {
		more, err := real.Turn(listener, nil)
		if err != nil {
			s.Close()
			return s, t, err
		}
		all := real.Threads()
		i := slices.IndexFunc(all, func(t mariadbserver.Thread) bool { return !before[t.Born] })
		switch {
		case i < 0:
			return s, t, errRefused
		case all[i].Wait == mariadbserver.ForMessage:
			return s, all[i], nil
		case !more:
			s.Close()
			return s, t, errors.New("a connection to MariaDB waits before its greeting")
		}
		listener = all[i].Entry
	}
}

var errRefused = errors.New("MariaDB has refused a connection")

func connect(real *mariadbserver.Server) (*control, error) {
	socket, thread, err := open(real)
	if err != nil {
		return nil, err
	}
	c := &control{real: real, socket: socket, entry: thread.Entry}
	if _, err = c.answer(0); err == nil { // the greeting
		if err = c.socket.Write(login(mariadbserver.User, "mysql")); err == nil {
			_, err = c.answer(0)
		}
	}
	if err == nil {
		_, err = c.query("SET SESSION wait_timeout = 31536000, SESSION innodb_lock_wait_timeout = 1")
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

func (c *control) query(statement string) (rows [][]string, err error) {
	if err := c.socket.Write(framed(0, append([]byte{comQuery}, statement...)...)); err != nil {
		return nil, err
	}
	r, err := c.answer(comQuery)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	for _, row := range r.rows {
		values, err := text(row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
		rows = append(rows, values)
	}
	return rows, nil
}

// answer gives its thread turns until there is an answer. 0 is for a greeting, and for the answer to a login.
func (c *control) answer(command byte) (r reply, err error) {
	buffer := make([]byte, 64<<10)
	for {
		c.real.Message(c.entry)
		more, err := c.real.Turn(c.entry, nil)
		if err != nil {
			return r, err
		}
		for {
			n, err := c.socket.Read(buffer)
			if errors.Is(err, dbworld.ErrIdle) {
				break
			}
			if err != nil {
				return r, err
			}
			c.in = append(c.in, buffer[:n]...)
		}
		if p, rest, ok := next(c.in); command == 0 && ok {
			c.in = rest
			if p.head() == 0xff {
				return r, asFailure(p.body())
			}
			return r, nil
		}
		r, rest, ok, err := parse(c.in, command, true)
		switch {
		case err != nil:
			return r, err
		case ok:
			c.in = rest
			if r.failure != nil {
				return r, r.failure
			}
			return r, nil
		case !more && !c.rests():
			return r, errors.New("a question to MariaDB waits for a client")
		}
	}
}

// rests reports whether its thread waits for time to pass, and ends that.
func (c *control) rests() bool {
	rests := slices.ContainsFunc(c.real.Threads(), func(t mariadbserver.Thread) bool {
		return t.Entry == c.entry && t.Wait == mariadbserver.ForTime
	})
	if rests {
		c.real.Late(c.entry)
	}
	return rests
}
