//go:build linux

package mariadb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/internal/mariadbserver"
	"locksim/internal/testruns"
	"locksim/sim"
	"locksim/sim/mariadb"
	"locksim/sim/trace"
)

// shared is the server of all tests, and why there is none.
var shared struct {
	server *mariadb.Server
	err    error
}

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	shared.server, shared.err = mariadb.Start(ctx)
	cancel()
	_ = mysql.SetLogger(log.New(io.Discard, "", 0))
	code := m.Run()
	if shared.server != nil {
		if n := shared.server.OutOfTurn(); n > 0 {
			fmt.Fprintf(os.Stderr, "%d times a thread went on out of its turn\n", n)
			code = 1
		}
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// server is the server of all tests. Where there can be none it skips the test, or fails it with
// LOCKSIM_REQUIRE_LIVE=1.
func server(t testing.TB) *mariadb.Server {
	t.Helper()
	missing := errors.Is(shared.err, mariadbserver.ErrMissing) || errors.Is(shared.err, mariadbserver.ErrNoCompiler)
	switch {
	case missing && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1":
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", shared.err)
	case shared.err != nil:
		t.Fatal(shared.err)
	}
	return shared.server
}

// machine is where a client runs.
type machine interface {
	Address(server string) string
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	OnEnd(func())
}

// open is the database for a client.
func open(t testing.TB, m machine) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "locksim", "tcp", "m0:3306", "locksim"
	cfg.CheckConnLiveness = false
	cfg.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return m.Dial(ctx, network, m.Address(mariadb.Name))
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	m.OnEnd(func() { _ = db.Close() })
	return db
}

// story runs a world in which clients tell what they see, and returns its trace.
func story(t testing.TB, kind sim.Kind, clients int, faults func(*sim.World), client func(p *sim.Process, db *sql.DB,
	say func(string, ...any))) *trace.Trace {
	t.Helper()
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{kind}, Clients: clients,
		Latency: sim.Latency{Min: time.Millisecond, Max: 3 * time.Millisecond}}
	r, err := sim.Run(cfg, func(w *sim.World) error {
		if faults != nil {
			faults(w)
		}
		for i := range clients {
			p := w.Client(i)
			p.Go(func() {
				time.Sleep(time.Duration(i) * 1237 * time.Microsecond)
				client(p, open(t, p), func(format string, args ...any) {
					p.Observe(trace.Mark{Step: trace.Point, Label: fmt.Sprintf(format, args...)})
				})
			})
		}
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Trace
}

// said are the times and the words of the clients.
func said(tr *trace.Trace) (all []string) {
	for _, e := range tr.Events {
		if mark, ok := e.What.(trace.Mark); ok && mark.Step == trace.Point {
			all = append(all, fmt.Sprintf("%.3f %s %s", e.At.Seconds(), e.Actor, mark.Label))
		}
	}
	return all
}

// statements executes statements one after another, and says what each gives: rows, an error, or nothing.
func statements(ctx context.Context, on interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, say func(string, ...any), all ...string) {
	for _, s := range all {
		say("%s: %s", s, result(ctx, on, s))
	}
}

func result(ctx context.Context, on interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, s string) string {
	rows, err := on.QueryContext(ctx, s)
	if err != nil {
		return err.Error()
	}
	defer rows.Close() //nolint:errcheck // reading tells
	var all []string
	for rows.Next() {
		columns, _ := rows.Columns()
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		var row []string
		for _, v := range values {
			row = append(row, v.String)
		}
		all = append(all, strings.Join(row, ","))
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return "[" + strings.Join(all, " ") + "]"
}

// busy is a client that locks names and rows, waits, times out and deadlocks.
func busy(p *sim.Process, db *sql.DB, say func(string, ...any)) {
	ctx := p.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		say("%v", err)
		return
	}
	defer conn.Close() //nolint:errcheck // the world tells of it
	do := func(all ...string) { statements(ctx, conn, say, all...) }
	me, other := p.Name()[1:], string('1'-p.Name()[1]+'0')
	do("SET SESSION innodb_lock_wait_timeout = 7", "SELECT GET_LOCK('k', 3), NOW(6)")
	time.Sleep(2 * time.Second)
	do("SELECT RELEASE_LOCK('k')", "BEGIN", "SELECT v FROM t WHERE k = "+me+" FOR UPDATE")
	time.Sleep(4 * time.Second)
	do("UPDATE t SET v = v + 1 WHERE k = "+other, "COMMIT", "SELECT * FROM t",
		"SELECT k FROM t WHERE k < 2 LIMIT 1 FOR UPDATE SKIP LOCKED",
		"BEGIN", "SELECT v FROM t WHERE k = 2 FOR UPDATE")
	time.Sleep(9 * time.Second)
	do("COMMIT", "INSERT INTO t VALUES (9, 9) ON DUPLICATE KEY UPDATE v = LAST_INSERT_ID(v + 1)",
		"SELECT LAST_INSERT_ID(), v FROM t WHERE k = 9",
		"SELECT SLEEP(1.5)", "SELECT NOW(6)")
}

// schema has a table with three rows.
var schema = []string{"CREATE TABLE t (k INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (0, 0), (1, 0), (2, 0)"}

// Worlds with one seed are equal, at any number of processors, and under faults.
func TestEqual(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: schema}
	for name, faults := range map[string]func(*sim.World){
		"calm":  nil,
		"pause": func(w *sim.World) { w.At(1500*time.Millisecond, func() { _ = w.Faults().Pause("c1", 15*time.Second) }) },
		"reset": func(w *sim.World) { w.At(1500*time.Millisecond, func() { _ = w.Faults().Reset("c1", "m0") }) },
		"clock": func(w *sim.World) { w.At(10*time.Second, func() { _ = w.Faults().JumpClock("m0", time.Hour) }) },
	} {
		t.Run(name, func(t *testing.T) {
			first := story(t, kind, 2, faults, busy)
			waits := 0
			for _, e := range first.Events {
				if x, ok := e.What.(trace.Exec); ok && x.Answer == nil {
					waits++
				}
			}
			if waits < 2 && name != "reset" {
				t.Errorf("%d statements had to wait, want 2 at least", waits)
			}
			n := testruns.Soak(t, 100, 0.06)
			for i := range n {
				if i == n/2 {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				}
				if d := trace.Diff(first, story(t, kind, 2, faults, busy)); d != nil {
					t.Fatal(d)
				}
			}
		})
	}
}

// The time limits of the server are over when they are, in virtual time, and a deadlock ends at once.
func TestTimeLimits(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: schema}
	tr := story(t, kind, 2, nil, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
		ctx := p.Context()
		conn, err := db.Conn(ctx)
		if err != nil {
			say("%v", err)
			return
		}
		defer conn.Close() //nolint:errcheck // the world tells of it
		if p.Name() == "c0" {
			statements(ctx, conn, func(string, ...any) {}, "SELECT GET_LOCK('k', 0)", "BEGIN",
				"SELECT * FROM t WHERE k = 1 FOR UPDATE", "SELECT SLEEP(100)")
			return
		}
		for _, s := range []string{"SELECT GET_LOCK('k', 3600)", "SET SESSION innodb_lock_wait_timeout = 50",
			"SELECT * FROM t WHERE k = 1 FOR UPDATE", "SELECT * FROM t WHERE k = 1 FOR UPDATE NOWAIT",
			"SELECT k FROM t ORDER BY k FOR UPDATE SKIP LOCKED", "SET STATEMENT max_statement_time = 5 FOR SELECT SLEEP(100)",
			"SET SESSION wait_timeout = 10"} {
			if strings.HasPrefix(s, "SELECT GET_LOCK") {
				s = "SELECT GET_LOCK('k', 20)"
			}
			begun := p.Clock().Now()
			got := result(ctx, conn, s)
			say("%s after %v", got, p.Clock().Now().Sub(begun).Round(100*time.Millisecond))
		}
		time.Sleep(11 * time.Second)
		say("%s", result(ctx, conn, "SELECT 1"))
	})
	want := []string{
		"[0] after 20s", "[] after 0s",
		"Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction after 50s",
		"Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction after 0s", "[0 2] after 0s",
		"Error 1969 (70100): Query execution was interrupted (max_statement_time exceeded) after 5s", "[] after 0s",
		"invalid connection",
	}
	var got []string
	for _, line := range said(tr) {
		got = append(got, strings.SplitN(line, " ", 3)[2])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// What was committed outlives a crash, and the server has it when it is back.
func TestCrash(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: schema}
	for n := range testruns.Soak(t, 30, 0.1) {
		mode := []faults.CrashMode{faults.CrashProcess, faults.CrashPower}[n%2]
		crashes := func(w *sim.World) {
			at := time.Duration(1500+17*n) * time.Millisecond
			w.At(at, func() { _ = w.Faults().Crash(mariadb.Name, mode) })
			w.At(at+500*time.Millisecond, func() { _ = w.Faults().Restart(mariadb.Name) })
		}
		tr := story(t, kind, 3, crashes, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
			ctx := p.Context()
			for range 6 {
				err := func() error {
					ctx, cancel := context.WithTimeout(ctx, 4*time.Second) // a machine without power does not answer at all
					defer cancel()
					tx, err := db.BeginTx(ctx, nil)
					if err != nil {
						return err
					}
					defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
					if _, err := tx.ExecContext(ctx, `UPDATE t SET v = v + 1 WHERE k = 1`); err != nil {
						return err
					}
					time.Sleep(300 * time.Millisecond)
					return tx.Commit()
				}()
				if err == nil {
					say("committed")
				} else {
					time.Sleep(600 * time.Millisecond)
				}
			}
			if p.Name() == "c0" {
				time.Sleep(20 * time.Second)
				say("%s", result(ctx, db, `SELECT v FROM t WHERE k = 1`))
			}
		})
		got := said(tr)
		last, committed := got[len(got)-1], len(got)-1
		if !strings.HasSuffix(last, fmt.Sprintf(" c0 [%d]", committed)) {
			t.Errorf("crash %d: the last of %q, want %d committed", n, got, committed)
		}
		if committed < 6 || committed > 17 {
			t.Errorf("crash %d: %d were committed: the crash was not felt, or nothing else was", n, committed)
		}
	}
}

// The world knows who has a lock of a session: when it is taken, given up, handed to the one that waits, and lost with
// its session. One that has died while it waited for a row gets it.
func TestLocksOfSessions(t *testing.T) {
	const (
		take, give = "SELECT GET_LOCK('k', 100)", "SELECT RELEASE_LOCK('k')"
		update     = "SELECT 1 FROM places WHERE id = 'x' FOR UPDATE"
	)
	for _, tt := range []struct {
		name, key, take, give, crash string
		want                         []string
	}{
		{"named", "named lock k", take, give, "", []string{
			"0s c0 set by c0: " + take + ", no key", "2s c0 deleted by c0: " + give + ", as long as its session",
			"2s c1 set by c1: " + take + ", no key", "4s c1 deleted by c1: " + give + ", as long as its session",
			"4s c2 set by c2: " + take + ", no key", "6s c2 deleted by c2: " + give + ", as long as its session",
		}},
		{"row", "row lock places/x", update, "COMMIT", "", []string{
			"0s c0 set by c0: " + update + ", no key", "2s c0 deleted by c0: COMMIT, as long as its session",
			"2s c1 set by c1: " + update + ", no key", "4s c1 deleted by c1: COMMIT, as long as its session",
			"4s c2 set by c2: " + update + ", no key", "6s c2 deleted by c2: COMMIT, as long as its session",
		}},
		{"the holder crashes", "row lock places/x", update, "COMMIT", "c0", []string{
			"0s c0 set by c0: " + update + ", no key", "1s c0 deleted by c0: , as long as its session, with it",
			"1s c1 set by c1: " + update + ", no key", "3s c1 deleted by c1: COMMIT, as long as its session",
			"3s c2 set by c2: " + update + ", no key", "5s c2 deleted by c2: COMMIT, as long as its session",
		}},
		{"the server crashes", "named lock k", take, give, "m0", []string{
			"0s c0 set by c0: " + take + ", no key", "1s  expired by : , as long as its session, with it",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kind := mariadb.Kind{Server: server(t), Schema: []string{`CREATE TABLE places (id VARCHAR(9) PRIMARY KEY)`,
				`INSERT INTO places VALUES ('x')`}}
			var got []string
			_, err := sim.Run(sim.Config{Servers: []sim.Kind{kind}, Clients: 3, Seed: 1}, func(w *sim.World) error {
				w.WatchKeys(tt.key)
				for i := range 3 {
					p := w.Client(i)
					p.Go(func() {
						time.Sleep(time.Duration(i) * 10 * time.Millisecond)
						conn, err := open(t, p).Conn(p.Context())
						if err != nil {
							return // the server has crashed
						}
						defer conn.Close() //nolint:errcheck // the world tells of it
						quiet := func(string, ...any) {}
						statements(p.Context(), conn, quiet, "BEGIN", tt.take)
						time.Sleep(2 * time.Second)
						statements(p.Context(), conn, quiet, tt.give)
					})
				}
				if tt.crash != "" {
					w.At(time.Second, func() {
						if err := w.Faults().Crash(tt.crash, faults.CrashProcess); err != nil {
							t.Error(err)
						}
					})
				}
				err := w.RunUntil(w.Idle)
				for _, c := range w.KeyChanges() {
					line := fmt.Sprintf("%v %s %s by %s: %s, %v", c.At.Round(500*time.Millisecond), c.By, c.Change, c.Asked, c.Request,
						c.Left)
					if c.Session {
						line += ", with it"
					}
					got = append(got, line)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// A world that was frozen, while a session of it had a lock and another one waited for that, gives the server to the
// next one.
func TestServerAfterAFrozenWorld(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: schema}
	lock := func(p *sim.Process) error {
		conn, err := open(t, p).Conn(p.Context())
		if err != nil {
			return err
		}
		if _, err = conn.ExecContext(p.Context(), "BEGIN"); err == nil {
			_, err = conn.ExecContext(p.Context(), "SELECT * FROM t WHERE k = 1 FOR UPDATE")
		}
		if p.Name() == "c0" {
			return err
		}
		return errors.Join(err, conn.Close())
	}
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{kind}, Clients: 2}
	// a server that another test has left without its process starts here, and not in a world with little time
	if _, err := sim.Run(cfg, func(*sim.World) error { return nil }); err != nil {
		t.Fatal(err)
	}
	cfg.Limits.Frozen = time.Second
	_, err := sim.Run(cfg, func(w *sim.World) error {
		w.Client(0).Go(func() { _ = lock(w.Client(0)) })
		w.Client(1).Go(func() {
			time.Sleep(time.Second)
			_ = lock(w.Client(1)) // it waits for ever
		})
		w.Client(0).Go(func() {
			time.Sleep(2 * time.Second)
			var mu sync.Mutex
			mu.Lock()
			mu.Lock()
		})
		return w.RunUntil(w.Idle)
	})
	if frozen := (*sim.FrozenError)(nil); !errors.As(err, &frozen) {
		t.Fatalf("%v, want a frozen run", err)
	}
	cfg.Limits.Frozen = 0
	var locked error
	_, err = sim.Run(cfg, func(w *sim.World) error {
		w.Client(1).Go(func() { locked = lock(w.Client(1)) })
		return w.RunUntil(w.Idle)
	})
	if err != nil || locked != nil {
		t.Errorf("the next world: %v, %v", err, locked)
	}
}

// Connections beyond what the server takes are refused as MariaDB refuses them, and the next world begins with none of
// them.
func TestMoreConnectionsThanTheServerTakes(t *testing.T) {
	const n = 330
	var mu sync.Mutex
	said := map[string]int{}
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{server(t)}}, func(w *sim.World) error {
		p := w.Client(0)
		for range n {
			p.Go(func() {
				db := open(t, p)
				text := "connected"
				if err := db.PingContext(p.Context()); err != nil {
					if text = err.Error(); strings.Contains(text, "Error 1040") {
						text = "too many"
					}
				}
				mu.Lock()
				defer mu.Unlock()
				said[text]++
			})
		}
		return w.RunUntil(w.Idle)
	})
	if err != nil || said["connected"] < 290 || said["connected"]+said["too many"] != n {
		t.Errorf("%d connections: %v, %v", n, said, err)
	}
	story(t, server(t), 1, nil, func(p *sim.Process, db *sql.DB, _ func(string, ...any)) {
		if err := db.PingContext(p.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A fault makes the server refuse statements with an error of its own, after which it has the transaction that it would
// have.
func TestErrorReply(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: schema}
	strike := func(w *sim.World) {
		w.At(time.Second, func() { _ = w.Faults().ReplyError("m0", faults.ReplyDeadlock, 1, 0) })
		w.At(5*time.Second, func() { _ = w.Faults().ReplyError("m0", faults.ReplyTimeout, 1, 0) })
	}
	tr := story(t, kind, 1, strike, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
		conn, err := db.Conn(p.Context())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close() //nolint:errcheck // the world tells of it
		for range 2 {
			statements(p.Context(), conn, say, "BEGIN", "UPDATE t SET v = 7 WHERE k = 0")
			time.Sleep(2 * time.Second)
			statements(p.Context(), conn, say, "UPDATE t SET v = 8 WHERE k = 1", "COMMIT", "SELECT v FROM t")
			time.Sleep(2 * time.Second)
		}
	})
	want := []string{
		"[]", "[]", "Error 1213 (40001): Deadlock found when trying to get lock; try restarting transaction", "[]", "[0 0 0]",
		"[]", "[]", "Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction", "[]", "[7 0 0]",
	}
	var got []string
	for _, line := range said(tr) {
		_, answer, _ := strings.Cut(line, ": ")
		got = append(got, answer)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// A statement that finds the log of InnoDB full looks again and again whether the page cleaner has written a
// checkpoint, and never waits for it: the page cleaner has its turn meanwhile, at the same place each time.
func TestFullLog(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: []string{"CREATE TABLE big (k SERIAL, v VARCHAR(3000))"}}
	fills := func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
		statements(p.Context(), db, say, "INSERT INTO big (v) SELECT REPEAT('x', 2500) FROM seq_1_to_200")
		for range 20 { // a megabyte of log each, of which there are eight
			statements(p.Context(), db, say, "UPDATE big SET v = CONCAT(v, 'x')", "SELECT COUNT(*), SUM(LENGTH(v)) FROM big")
		}
	}
	before := shared.server.OutOfTurn()
	first := story(t, kind, 1, nil, fills)
	if said := said(first); !strings.HasSuffix(said[len(said)-1], "[200,504000]") {
		t.Errorf("at last %s", said[len(said)-1])
	}
	if d := trace.Diff(first, story(t, kind, 1, nil, fills)); d != nil {
		t.Error(d)
	}
	if n := shared.server.OutOfTurn() - before; n > 0 {
		t.Errorf("%d times a thread went on out of its turn", n)
	}
}
