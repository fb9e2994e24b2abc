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
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locksim/internal/mariadbserver"
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
	do("UPDATE t SET v = v + 1 WHERE k = "+other, "COMMIT", "SELECT * FROM t", "SELECT k FROM t WHERE k < 2 LIMIT 1 FOR UPDATE SKIP LOCKED",
		"BEGIN", "SELECT v FROM t WHERE k = 2 FOR UPDATE")
	time.Sleep(9 * time.Second)
	do("COMMIT", "INSERT INTO t VALUES (9, 9) ON DUPLICATE KEY UPDATE v = LAST_INSERT_ID(v + 1)", "SELECT LAST_INSERT_ID(), v FROM t WHERE k = 9",
		"SELECT SLEEP(1.5)", "SELECT NOW(6)")
}

var table = []string{"CREATE TABLE t (k INT PRIMARY KEY, v INT)"}

// Worlds with one seed are equal, and the server's time is theirs.
func TestEqualRuns(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: append(table, "INSERT INTO t VALUES (0, 0), (1, 0), (2, 0)")}
	hash := ""
	for i := range 5 {
		begun := time.Now()
		tr := story(t, kind, 2, nil, busy)
		t.Log(time.Since(begun), tr.Len())
		if i == 0 {
			hash = tr.Hash()
			t.Log(strings.Join(said(tr), "\n"))
		} else if tr.Hash() != hash {
			t.Errorf("run %d differs", i)
			t.Log(strings.Join(said(tr), "\n"))
		}
	}
}
