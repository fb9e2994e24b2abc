//go:build linux

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/faults"
	"locksim/internal/pgserver"
	"locksim/internal/testruns"
	"locksim/sim"
	"locksim/sim/postgres"
	"locksim/sim/trace"
)

// shared is the server of all tests, and why there is none.
var shared struct {
	server *postgres.Server
	err    error
}

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	shared.server, shared.err = postgres.Start(ctx)
	cancel()
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
func server(t testing.TB) *postgres.Server {
	t.Helper()
	missing := errors.Is(shared.err, pgserver.ErrMissing) || errors.Is(shared.err, pgserver.ErrNoCompiler)
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
	db := stdlib.OpenDB(*config(t, m, pgx.QueryExecModeCacheStatement))
	m.OnEnd(func() { _ = db.Close() })
	return db
}

// config is that of the driver for a client.
func config(t testing.TB, m machine, mode pgx.QueryExecMode) *pgx.ConnConfig {
	t.Helper()
	cfg, err := pgx.ParseConfig("host=p0 user=locksim dbname=postgres sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	cfg.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"p0"}, nil }
	cfg.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return m.Dial(ctx, network, m.Address(postgres.Name))
	}
	cfg.DefaultQueryExecMode = mode
	return cfg
}

// story runs a world in which clients tell what they see, and returns its trace.
func story(t testing.TB, clients int, faults func(*sim.World), client func(p *sim.Process, db *sql.DB,
	say func(string, ...any))) *trace.Trace {
	t.Helper()
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{server(t)}, Clients: clients,
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

// said are the sayings of the clients, with their times in milliseconds.
func said(t *trace.Trace) (all []string) {
	for _, e := range t.Events {
		if m, ok := e.What.(trace.Mark); ok {
			all = append(all, fmt.Sprintf("%d %s %s", e.At.Milliseconds(), e.Actor, m.Label))
		}
	}
	return all
}

// rowLock lets clients lock a row for two seconds, one after another.
func rowLock(p *sim.Process, db *sql.DB, say func(string, ...any)) {
	ctx := context.Background()
	if p.Name() == "c0" {
		for _, s := range []string{`CREATE TABLE locks (resource text PRIMARY KEY, count int)`,
			`INSERT INTO locks VALUES ('order', 0)`} {
			if _, err := db.ExecContext(ctx, s); err != nil {
				say("%v", err)
			}
		}
	}
	time.Sleep(time.Second)
	for range 2 {
		err := func() error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
			var count int
			var now time.Time
			if err := tx.QueryRowContext(ctx, `SELECT count, clock_timestamp() FROM locks WHERE resource = $1 FOR UPDATE`,
				"order").Scan(&count, &now); err != nil {
				return err
			}
			say("has the row: %d, at %s", count, now.UTC().Format("15:04:05.000"))
			time.Sleep(2 * time.Second)
			if _, err := tx.ExecContext(ctx, `UPDATE locks SET count = count + 1`); err != nil {
				return err
			}
			return tx.Commit()
		}()
		if err != nil {
			say("%v", err)
		}
	}
}

// A row lock is granted to one after another, and the clock of the server is that of the world.
func TestRowLock(t *testing.T) {
	want := []string{
		"c1 has the row: 0, at 00:00:01", "c2 has the row: 1, at 00:00:03", "c0 has the row: 2, at 00:00:05",
		"c1 has the row: 3, at 00:00:07", "c2 has the row: 4, at 00:00:09", "c0 has the row: 5, at 00:00:11",
	}
	got := said(story(t, 3, nil, rowLock))
	for i, line := range got {
		_, line, _ = strings.Cut(line, " ")
		got[i], _, _ = strings.Cut(line, ".")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Equal runs have equal traces: while clients wait in turn, one is paused with the row, and the connections of another
// one are reset. LOCKSIM_SOAK=1 is 50 runs of each.
func TestEqual(t *testing.T) {
	for name, faults := range map[string]func(*sim.World){
		"calm":  nil,
		"pause": func(w *sim.World) { w.At(1500*time.Millisecond, func() { _ = w.Faults().Pause("c1", 15*time.Second) }) },
		"reset": func(w *sim.World) { w.At(1500*time.Millisecond, func() { _ = w.Faults().Reset("c1", "p0") }) },
		"clock": func(w *sim.World) { w.At(2*time.Second, func() { _ = w.Faults().JumpClock("p0", time.Hour) }) },
	} {
		t.Run(name, func(t *testing.T) {
			first := story(t, 5, faults, rowLock)
			if waits := 0; !slices.ContainsFunc(first.Events, func(e trace.Event) bool {
				if x, ok := e.What.(trace.Exec); ok && x.Answer == nil {
					waits++
				}
				return waits == 4
			}) {
				t.Error("fewer than four backends had to wait")
			}
			for range testruns.Soak(t, 50, 0.06) {
				if d := trace.Diff(first, story(t, 5, faults, rowLock)); d != nil {
					t.Fatal(d)
				}
			}
		})
	}
}

// The time limits of the server are over when they are, in virtual time.
func TestTimeLimits(t *testing.T) {
	got := said(story(t, 2, nil, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
		ctx := context.Background()
		c, err := db.Conn(ctx)
		if err != nil {
			say("%v", err)
			return
		}
		do := func(statement string) bool {
			_, err := c.ExecContext(ctx, statement)
			var state interface{ SQLState() string }
			switch {
			case errors.As(err, &state):
				say("%s: %s", statement, state.SQLState())
			case err != nil:
				say("%s: %v", statement, err)
			}
			return err == nil
		}
		if p.Name() == "c0" {
			do(`CREATE TABLE locks (resource text PRIMARY KEY)`)
			do(`INSERT INTO locks VALUES ('a'), ('b')`)
			do(`SET idle_in_transaction_session_timeout = '20s'`)
			do(`BEGIN`)
			do(`SELECT FROM locks WHERE resource = 'a' FOR UPDATE`)
			time.Sleep(15 * time.Second) // not too long
			do(`SELECT FROM locks WHERE resource = 'b' FOR UPDATE`)
			time.Sleep(30 * time.Second) // too long
			do(`SELECT 1`)
			return
		}
		time.Sleep(time.Second)
		do(`SET lock_timeout = '5s'`)
		do(`SELECT FROM locks WHERE resource = 'a' FOR UPDATE`)
		do(`RESET lock_timeout`)
		do(`SET statement_timeout = '6s'`)
		do(`SELECT FROM locks WHERE resource = 'a' FOR UPDATE`)
		do(`RESET statement_timeout`)
		if do(`SELECT FROM locks WHERE resource = 'a' FOR UPDATE`) {
			say("has the row")
		}
	}))
	want := []string{
		"6.0 c1 SELECT FROM locks WHERE resource = 'a' FOR UPDATE: 55P03",
		"12.0 c1 SELECT FROM locks WHERE resource = 'a' FOR UPDATE: 57014",
		"35.0 c1 has the row",
		"45.0 c0 SELECT 1: 25P03",
	}
	for i, line := range got {
		at, what, _ := strings.Cut(line, " ")
		ms, _ := strconv.Atoi(at)
		got[i] = fmt.Sprintf("%.1f %s", float64(ms)/1000, what)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two clients that take two rows in opposite order: the server finds out after deadlock_timeout, and one of them goes
// on.
func TestDeadlock(t *testing.T) {
	var equal *trace.Trace
	for range 3 {
		tr := story(t, 2, nil, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
			ctx := context.Background()
			mine, other := "a", "b"
			if p.Name() == "c0" {
				mine, other = other, mine
				if _, err := db.ExecContext(ctx,
					`CREATE TABLE locks AS SELECT * FROM (VALUES ('a'), ('b')) AS v (resource)`); err != nil {
					say("%v", err)
				}
			}
			time.Sleep(time.Second)
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				say("%v", err)
				return
			}
			defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
			for _, r := range []string{mine, other} {
				if _, err := tx.ExecContext(ctx, `SELECT FROM locks WHERE resource = $1 FOR UPDATE`, r); err != nil {
					var state interface{ SQLState() string }
					say("%s: %v", r, errors.As(err, &state) && state.SQLState() == "40P01")
					return
				}
				time.Sleep(time.Second)
			}
			say("has both")
		})
		if got := said(tr); len(got) != 2 || !strings.HasSuffix(got[0], ": true") || !strings.HasSuffix(got[1], " has both") {
			t.Errorf("the clients say %q, want a deadlock and a success", got)
		}
		if equal != nil {
			if d := trace.Diff(equal, tr); d != nil {
				t.Error(d)
			}
		}
		equal = tr
	}
}

// A client whose context ends while it waits is out of the queue.
func TestCancel(t *testing.T) {
	got := said(story(t, 2, nil, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
		ctx := context.Background()
		if p.Name() == "c1" {
			time.Sleep(time.Second)
			limited, cancel := context.WithTimeout(ctx, 3*time.Second)
			defer cancel()
			_, err := db.ExecContext(limited, `SELECT pg_advisory_lock(42)`)
			say("gave up: %v", errors.Is(err, context.DeadlineExceeded))
			return
		}
		c, err := db.Conn(ctx)
		if err != nil {
			say("%v", err)
			return
		}
		if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock(42)`); err != nil {
			say("%v", err)
		}
		for range 2 {
			time.Sleep(2 * time.Second)
			var waiting int
			if err := c.QueryRowContext(ctx, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`).Scan(
				&waiting); err != nil {
				say("%v", err)
			}
			say("%d waiting", waiting)
		}
		time.Sleep(time.Second)
	}))
	for i, line := range got {
		_, got[i], _ = strings.Cut(line, " ")
	}
	if diff := cmp.Diff([]string{"c0 1 waiting", "c1 gave up: true", "c0 0 waiting"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A crash of the server loses what was not committed, and nothing else, and breaks its connections. LOCKSIM_SOAK=1 is
// 100 crashes.
func TestCrash(t *testing.T) {
	for n := range testruns.Soak(t, 50, 0.04) {
		mode := []faults.CrashMode{faults.CrashProcess, faults.CrashPower}[n%2]
		crashes := func(w *sim.World) {
			for i := range 2 {
				at := time.Duration(1500+3000*i+17*n) * time.Millisecond
				w.At(at, func() { _ = w.Faults().Crash(postgres.Name, mode) })
				w.At(at+500*time.Millisecond, func() { _ = w.Faults().Restart(postgres.Name) })
			}
		}
		tr := story(t, 3, crashes, func(p *sim.Process, db *sql.DB, say func(string, ...any)) {
			ctx := context.Background()
			if p.Name() == "c0" {
				_, _ = db.ExecContext(ctx, `CREATE TABLE counter (n int)`)
				_, _ = db.ExecContext(ctx, `INSERT INTO counter VALUES (0)`)
			}
			time.Sleep(time.Second)
			for range 6 {
				err := func() error {
					ctx, cancel := context.WithTimeout(ctx, 4*time.Second) // a machine without power does not answer at all
					defer cancel()
					tx, err := db.BeginTx(ctx, nil)
					if err != nil {
						return err
					}
					defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
					if _, err := tx.ExecContext(ctx, `UPDATE counter SET n = n + 1`); err != nil {
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
				var n int
				if err := db.QueryRowContext(ctx, `SELECT n FROM counter`).Scan(&n); err != nil {
					say("%v", err)
				}
				say("%d", n)
			}
		})
		got := said(tr)
		last, committed := got[len(got)-1], len(got)-1
		if !strings.HasSuffix(last, fmt.Sprintf(" c0 %d", committed)) {
			t.Errorf("crash %d: the last of %q, want %d committed", n, got, committed)
		}
		if committed < 6 || committed > 17 {
			t.Errorf("crash %d: %d were committed: the crashes were not felt, or nothing else was", n, committed)
		}
	}
}

// A statement that waits for time to pass ends the run with an error that names it.
func TestSleep(t *testing.T) {
	_, err := sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{server(t)}}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { _, _ = open(t, p).ExecContext(p.Context(), `SELECT pg_sleep(1)`) })
		return w.RunUntil(w.Idle)
	})
	if err == nil || !strings.Contains(err.Error(), `c0: PostgreSQL waits for time to pass in "SELECT pg_sleep(1)"`) {
		t.Errorf("the error is %v", err)
	}
}

// The limit on connections is the server's own.
func TestTooManyConnections(t *testing.T) {
	got := ""
	story(t, 1, nil, func(p *sim.Process, db *sql.DB, _ func(string, ...any)) {
		for range 120 {
			conn, err := db.Conn(p.Context())
			if err != nil {
				got = err.Error()
				return
			}
			p.OnEnd(func() { _ = conn.Close() })
		}
	})
	if !strings.Contains(got, "SQLSTATE 53300") {
		t.Errorf("the error of the last connection is %q", got)
	}
}

// A client that ends its connection has no lock when the next request arrives, however soon after that is.
func TestEnd(t *testing.T) {
	cfg := sim.Config{
		Seed: 1, Servers: []sim.Kind{server(t)}, Clients: 2, Latency: sim.Latency{Min: time.Millisecond,
			Max: time.Millisecond}, Untraced: true,
	}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		at := func(round int, part time.Duration) time.Duration { return time.Duration(1+round)*time.Second + part }
		const rounds = 3
		run := func(p *sim.Process, then time.Duration, do func(c *pgx.Conn, until func(time.Duration)) error) {
			p.Go(func() {
				for round := range rounds {
					c, err := pgx.ConnectConfig(p.Context(), config(t, p, pgx.QueryExecModeSimpleProtocol))
					if err == nil {
						err = do(c, func(d time.Duration) { time.Sleep(at(round, d) - w.Now()) })
					}
					if err != nil {
						t.Errorf("%s, round %d: %v", p.Name(), round, err)
						return
					}
					time.Sleep(at(round, then) - w.Now())
				}
			})
		}
		run(w.Client(0), 900*time.Millisecond, func(c *pgx.Conn, until func(time.Duration)) error {
			for i := range 50 { // a process drops its temporary tables before it gives its locks back
				if _, err := c.Exec(context.Background(), fmt.Sprintf("CREATE TEMPORARY TABLE t%d (n int)", i)); err != nil {
					return err
				}
			}
			if _, err := c.Exec(context.Background(), "SELECT pg_advisory_lock(7)"); err != nil {
				return err
			}
			until(500 * time.Millisecond)
			c.PgConn().Frontend().Send(&pgproto3.Terminate{}) // the end of the connection follows later
			err := c.PgConn().Frontend().Flush()
			until(800 * time.Millisecond)
			_ = c.Close(context.Background())
			return err
		})
		run(w.Client(1), 950*time.Millisecond, func(c *pgx.Conn, until func(time.Duration)) error {
			if _, err := c.Exec(context.Background(), "SELECT pg_try_advisory_lock(8)"); err != nil { // the next one is fast
				return err
			}
			until(500*time.Millisecond + time.Microsecond)
			var got bool
			err := c.QueryRow(context.Background(), "SELECT pg_try_advisory_lock(7)").Scan(&got)
			if err == nil && !got {
				err = errors.New("the lock is taken")
			}
			return errors.Join(err, c.Close(context.Background()))
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}
