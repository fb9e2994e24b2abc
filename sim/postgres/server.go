//go:build linux

package postgres

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/faults"
	"locksim/internal/dbworld"
	"locksim/internal/pgserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// Name is the name of the server in a world.
const Name = "p0"

// port is its port.
const port = 5432

// Server is a real PostgreSQL for simulated worlds, one after another. It is a [sim.Kind].
type Server struct {
	real    *pgserver.Server
	control *control
	path    string // of its socket
	down    bool   // it has crashed

	schema []string // that its database was made by
	tables []string // of that schema; nil if they cannot be emptied
	made   string   // the catalog then
	worlds int      // that have had tables of their own

	has *machine // in the world that has the server; nil between two worlds
	ops dbworld.Ops
}

// Op takes note of an operation on the protected data of a run, which a client is about to send. The client tells the
// server by application_name which operation its next statements are about, so that the trace says when they took
// effect, as it does for the store. Any goroutine may call it.
func (s *Server) Op(op trace.Decision) {
	s.ops.Note(op)
}

// Kind is the server with a database that is not empty when a world begins. It is a [sim.Kind].
type Kind struct {
	Server *Server
	// Schema are statements that make what the clients expect to be there.
	Schema []string
	// Value is the query for the value of a register of the protected data; nil if there is none.
	Value func(resource, register string) string
	// Leases are tables with leases, whose changes belong to the ground truth.
	Leases []LeaseTable
	// Pooled puts a pooling proxy before the server, which gives a connection to each transaction, and not to each
	// session.
	Pooled bool
}

// Build implements [sim.Kind].
func (k Kind) Build(b *sim.Builder) {
	b.Add(Name, port, func(n *sim.Node) sim.Server { return newMachine(n, k) })
}

// Start starts a PostgreSQL. It must be called outside of any world. The error wraps [pgserver.ErrMissing] or
// [pgserver.ErrNoCompiler] where something has to be installed.
func Start(ctx context.Context) (*Server, error) {
	real, err := pgserver.Start(ctx, pgserver.Options{Clock: true, Settings: []string{
		"max_connections=100", "autovacuum=off", "jit=off", "max_parallel_workers=0", "max_parallel_workers_per_gather=0",
		"timezone=UTC", "log_min_messages=panic", "log_min_error_statement=panic",
	}})
	if err != nil {
		return nil, err
	}
	s := &Server{real: real, path: filepath.Join(real.Dir(), ".s.PGSQL.5432")}
	if s.control, err = connect(s.path); err != nil {
		_ = real.Stop()
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return s, nil
}

// Stop ends the server, and removes all that it has.
func (s *Server) Stop() error {
	s.control.socket.Close()
	return s.real.Stop()
}

// Build implements [sim.Kind].
func (s *Server) Build(b *sim.Builder) {
	Kind{Server: s}.Build(b)
}

// machine is the server in a world.
type machine struct {
	node     *sim.Node
	server   *Server
	kind     Kind
	backends []*backend // in the order in which they have connected
	waiting  []*backend // for a lock, in the order in which they have begun to
	opened   int32
	pooler   *pooler // nil without one

	truth dbworld.Truth
}

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
	if k.Pooled {
		m.pooler = &pooler{machine: m}
	}
	if !s.down && !m.alone() { // it has failed in the last world
		m.Crash(faults.CrashProcess)
	}
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

// alone ends the connections of the last world, and waits for their end. It reports false if the server has failed,
// which it may learn only meanwhile.
func (m *machine) alone() bool {
	_, err := m.server.control.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_type = " +
		"'client backend' AND pid <> pg_backend_pid()")
	return err == nil
}

// catalog is what there is in the schema, so that a change of it shows.
const catalog = `SELECT string_agg(oid || ' ' || xmin, ',' ORDER BY oid) FROM (
	SELECT oid, xmin FROM pg_class WHERE relnamespace = 'public'::regnamespace
	UNION ALL SELECT oid, xmin FROM pg_type WHERE typnamespace = 'public'::regnamespace
	UNION ALL SELECT oid, xmin FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS all_of_it`

// emptied is how many worlds have tables of their own between two clean-ups of the catalogs, which grow with each.
const emptied = 100

// empty makes the database as it is at the beginning of a world. Tables that are there from the world before are
// emptied, which is quicker than to make them, and are as new then.
func (m *machine) empty() {
	s := m.server
	if s.tables == nil || !slices.Equal(s.schema, m.kind.Schema) || s.made != text(m.askOften(catalog)) {
		m.ask("DROP SCHEMA public CASCADE")
		m.ask("CREATE SCHEMA public")
		m.ask("GRANT ALL ON SCHEMA public TO public")
		if s.worlds++; s.worlds%emptied == 0 {
			m.ask("VACUUM")
		}
		for _, statement := range m.kind.Schema {
			m.ask(statement)
		}
		s.schema, s.tables, s.made = m.kind.Schema, m.tables(), text(m.askOften(catalog))
	}
	if len(s.tables) > 0 {
		m.ask("DELETE FROM " + strings.Join(s.tables, "; DELETE FROM "))
		m.ask("VACUUM " + strings.Join(s.tables, ", "))
	}
}

// tables are the tables of the schema, if they can be emptied; nil if one has rows, or if there is something else, such
// as a sequence.
func (m *machine) tables() (all []string) {
	for _, row := range m.ask("SELECT relkind IN ('r', 'i'), relkind = 'r', quote_ident(relname) FROM pg_class WHERE " +
		"relnamespace = 'public'::regnamespace ORDER BY oid") {
		switch {
		case row[0] == "f":
			return nil
		case row[1] == "t":
			if text(m.ask("SELECT EXISTS (SELECT FROM "+row[2]+")")) == "t" {
				return nil
			}
			all = append(all, row[2])
		}
	}
	return all
}

// text is the answer to a query for one value.
func text(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Join(rows[0], "")
}

// ask asks the server itself, in no virtual time. It ends the run if that fails.
func (m *machine) ask(statement string) [][]string {
	rows, err := m.server.control.query(statement)
	if err != nil {
		m.node.Fail(fmt.Errorf("ask PostgreSQL: %w", err))
	}
	return rows
}

// askOften is ask for a statement that is asked time and again.
func (m *machine) askOften(statement string, parameters ...string) [][]string {
	rows, err := m.server.control.often(statement, parameters...)
	if err != nil {
		m.node.Fail(fmt.Errorf("ask PostgreSQL: %w", err))
	}
	return rows
}

// tick sets the server's wall clock to that of the machine.
func (m *machine) tick() {
	if err := m.server.real.SetTime(m.node.Now()); err != nil {
		m.node.Fail(fmt.Errorf("set the clock of PostgreSQL: %w", err))
	}
}

// ClockChanged implements [sim.ClockFollower].
func (m *machine) ClockChanged() { m.tick() }

// ReplyErrors implements [sim.ErrorReplier].
func (*machine) ReplyErrors() []faults.ReplyError { return faults.ReplyErrors(Name) }

// Close implements [sim.Closer].
func (m *machine) Close() {
	for _, b := range slices.Clone(m.backends) {
		b.leave()
	}
	m.server.has = nil
}

// desert ends the sessions of a world that stands still for ever. Its timers are left alone: they are of its bubble.
func (m *machine) desert() {
	for _, b := range slices.Clone(m.backends) {
		b.timer, b.due = nil, pgserver.Timer{}
		b.leave()
	}
	m.server.has = nil
}

// Value is the value of a register of the protected data.
func (m *machine) Value(resource, register string) string {
	if m.kind.Value == nil {
		return ""
	}
	return text(m.ask(m.kind.Value(resource, register)))
}

// Crash implements [sim.Crasher]: all processes of the server are killed. What was committed is on the disk, so a loss
// of power loses no more than that.
func (m *machine) Crash(faults.CrashMode) {
	m.server.down = true
	m.server.control.socket.Close()
	if m.pooler != nil {
		m.pooler.drop()
	}
	if err := m.server.real.Crash(); err != nil {
		m.node.Fail(fmt.Errorf("crash PostgreSQL: %w", err))
	}
	m.tell("")
	m.truth.Told()
}

// Restart implements [sim.Restarter]: the server recovers.
func (m *machine) Restart(int) { m.start() }

// start starts the server after a crash. Its recovery takes no virtual time.
func (m *machine) start() {
	m.tick()
	err := m.server.real.Run()
	for tries := 20_000; err == nil; tries-- {
		if m.server.control, err = connect(m.server.path); err == nil {
			m.server.down = false
			return
		}
		if tries > 0 {
			err = nil
			dbworld.Pass(time.Millisecond)
		}
	}
	m.node.Fail(fmt.Errorf("restart PostgreSQL: %w", err))
}

// Describe implements [sim.Describer].
func (*machine) Describe(dir sim.Direction, b []byte) trace.Content { return describe(dir, b) }

// JoinWrites implements [sim.Joiner].
func (*machine) JoinWrites() {}

// Canonical implements [sim.Canonical]: a driver has the parameters of its start in a map.
func (*machine) Canonical(b []byte) []byte {
	if m, rest, ok := next(b, false); ok && len(rest) == 0 {
		return inOrder(m)
	}
	return bytes.Clone(b)
}

// settle lets the backends work, and tells what has changed of the watched locks by what a client has sent; by is empty
// if none has.
func (m *machine) settle(by string) {
	m.work()
	m.tell(by)
	m.truth.Told()
}

// work waits until every backend has answered, or waits for a lock. One that need not wait any more goes on when no
// other is at work, and alone, the one that has waited longest first. Then it plans the timers of all.
func (m *machine) work() {
	if m.server.down {
		return
	}
	for goesOn := true; goesOn; {
		for _, b := range slices.Clone(m.backends) {
			if b.owed > 0 && !b.waiting {
				b.work()
			}
		}
		goesOn = false
		for _, b := range m.waiting {
			if m.waits(b.pid) != forLock {
				b.resume()
				goesOn = true
				break
			}
		}
	}
	m.planTimers()
}

func (m *machine) planTimers() {
	all, err := m.server.real.Timers()
	if err != nil {
		m.node.Fail(fmt.Errorf("read the timers of PostgreSQL: %w", err))
		return
	}
	for _, b := range m.backends {
		var due pgserver.Timer
		if i := slices.IndexFunc(all, func(t pgserver.Timer) bool { return t.PID == int(b.pid) }); i >= 0 {
			due = all[i]
		}
		b.plan(due)
	}
}

// wait is what a backend waits for.
type wait int

const (
	forNothing wait = iota
	forLock         // one that another backend has
	forTime         // to pass, of its own will
)

func (m *machine) waits(pid int32) wait {
	rows := m.askOften("SELECT cardinality(pg_blocking_pids(pid)) > 0, wait_event = 'PgSleep' FROM "+
		"pg_stat_get_activity($1)", strconv.Itoa(int(pid)))
	switch {
	case len(rows) != 1:
		return forNothing
	case rows[0][0] == "t":
		return forLock
	case rows[0][1] == "t":
		return forTime
	}
	return forNothing
}
