package server_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	_ "github.com/jackc/pgx/v5/stdlib"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"locksim/faults"
	"locksim/internal/live/server"
)

// names are those of all servers.
func names(g *server.Group) (all []string) {
	for _, s := range g.Servers() {
		all = append(all, s.Name())
	}
	return all
}

// Three members of etcd go on without one that is stalled or was killed, and stand without two; the killed ones come
// back with what they had.
func TestEtcd(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Etcd, Count: 3, Clock: true})
	if got := names(g); !slices.Equal(got, []string{"e0", "e1", "e2"}) {
		t.Errorf("the servers are %v", got)
	}
	listensOnLoopbackOnly(t, g)
	put := func(s *server.Server, value string, patience time.Duration) error {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Addr()}, Logger: zap.NewNop()})
		must(t, err)
		defer c.Close() //nolint:errcheck // it has served its purpose
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, err = c.Put(ctx, "k", value)
		return err
	}
	e0, e1, e2 := g.Server("e0"), g.Server("e1"), g.Server("e2")
	// a member refuses a put while an election goes on, which takes seconds on a busy machine
	writes := func(value string) {
		t.Helper()
		eventually(t, "e0 writes "+value, func() bool { return put(e0, value, patience) == nil })
	}
	writes("1")
	must(t, e1.Stall())
	writes("2")
	must(t, e1.Resume())
	must(t, e1.Crash(faults.CrashProcess))
	writes("3")
	must(t, e2.Crash(faults.CrashPower))
	if err := put(e0, "4", 300*time.Millisecond); err == nil {
		t.Error("one of three members writes")
	}
	must(t, e0.Crash(faults.CrashProcess))
	for _, s := range g.Servers() { // the first of them alone serves nothing
		must(t, s.Restart(ctx))
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{e1.Addr()}, Logger: zap.NewNop()})
	must(t, err)
	defer c.Close() //nolint:errcheck // it has served its purpose
	r, err := c.Get(ctx, "k")
	must(t, err)
	if len(r.Kvs) != 1 || string(r.Kvs[0].Value) < "3" { // 4 may have been written, without an answer
		t.Errorf("after a restart of all members k is %v", r.Kvs)
	}
	for what, err := range map[string]error{
		"a jump of a clock": e0.JumpClock(time.Hour), "a drift": e0.DriftClock(1000),
		"a flush": e0.Flush(ctx, faults.FlushKeys),
	} {
		if !errors.Is(err, faults.ErrUnable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	leads(t, g)
}

// A server serves again after a crash within the time that its kind says. One of a few times is enough: the machine may
// have other work to do.
func TestReturn(t *testing.T) {
	t.Parallel()
	for _, o := range []server.Options{
		{Kind: server.Redis}, {Kind: server.Etcd, Count: 3}, {Kind: server.ZooKeeper, Count: 3, Tick: 300 * time.Millisecond},
		{Kind: server.Postgres}, {Kind: server.MariaDB},
	} {
		t.Run(string(o.Kind), func(t *testing.T) {
			t.Parallel()
			g, ctx := start(t, o)
			limit, took := server.PaceOf(o.Kind).Return, []time.Duration(nil)
			for range 20 {
				for _, s := range g.Servers() {
					must(t, s.Crash(faults.CrashProcess))
				}
				began := time.Now()
				for _, s := range g.Servers() {
					must(t, s.Restart(ctx))
				}
				if o.Kind == server.Etcd || o.Kind == server.ZooKeeper {
					_, err := g.Leader(ctx)
					must(t, err)
				}
				d := time.Since(began)
				if d <= limit {
					return
				}
				took = append(took, d)
			}
			if slices.Min(took) > 3*limit {
				t.Fatalf("it took %v, and %v is said to be enough", took, limit)
			}
			t.Skipf("the machine has too much other work to do: it took %v", took)
		})
	}
}

// leads checks that one member of a cluster leads, and that another one does when it has crashed. All members run then.
func leads(t *testing.T, g *server.Group) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	first, err := g.Leader(ctx)
	must(t, err)
	must(t, first.Crash(faults.CrashProcess))
	second, err := g.Leader(ctx)
	must(t, err)
	if second == first || second.Down() {
		t.Errorf("%s leads after the crash of %s", second.Name(), first.Name())
	}
	must(t, first.Restart(ctx))
	must(t, first.Stall())
	if l, err := g.Leader(ctx); err != nil || l == first {
		t.Errorf("a stalled member leads: %v", err)
	}
	must(t, first.Resume())
}

// create makes a node. The connection may break, and be made again, while the client or the server waits for a
// processor.
func create(t *testing.T, c *zk.Conn, name string, flags int32) {
	t.Helper()
	eventually(t, name+" is made", func() bool {
		_, err := c.Create(name, nil, flags, zk.WorldACL(zk.PermAll))
		return err == nil || errors.Is(err, zk.ErrNodeExists)
	})
}

// A ZooKeeper keeps its nodes over a crash, and its sessions go by its own monotonic clock: one that is fast ends a
// session whose client has hung up early, and one that stands still does not end it at all.
func TestZooKeeper(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.ZooKeeper, Tick: time.Second, Clock: true})
	listensOnLoopbackOnly(t, g)
	z0 := g.Server("z0")
	before, hangUp := session(t, z0, 20*time.Second)
	create(t, before, "/kept", 0)
	hangUp() // a client that connects while the server starts may wait for its answer for a minute
	must(t, z0.Crash(faults.CrashProcess))
	must(t, z0.Restart(ctx))
	watcher, _ := session(t, z0, 20*time.Second)
	// abandon makes an ephemeral node in a session whose client is gone, and returns how long the node stays.
	abandon := func(name string, timeout, atMost time.Duration) time.Duration {
		t.Helper()
		c, hangUp := session(t, z0, timeout)
		begin := time.Now()
		create(t, c, name, zk.FlagEphemeral)
		hangUp()
		for time.Since(begin) < atMost {
			there, _, err := watcher.Exists(name)
			if err == nil && !there {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return time.Since(begin)
	}
	if lasted := abandon("/true", 2*time.Second, patience); lasted < 1500*time.Millisecond {
		t.Errorf("a session of 2s lasts %v", lasted)
	}
	eventually(t, "the server has the node that it had before it was killed",
		func() bool { there, _, err := watcher.Exists("/kept"); return err == nil && there })
	must(t, z0.DriftClock(faults.MaxPPM))
	if lasted := abandon("/fast", 20*time.Second, patience); lasted > 15*time.Second {
		t.Errorf("a session of 20s by a clock that is ten times too fast lasts %v", lasted)
	}
	must(t, z0.DriftClock(faults.MinPPM))
	if lasted := abandon("/frozen", 2*time.Second, 3500*time.Millisecond); lasted < 3500*time.Millisecond {
		t.Errorf("a session by a clock that stands still ends after %v", lasted)
	}
	must(t, z0.DriftClock(0))
	eventually(t, "the session ends", func() bool {
		there, _, err := watcher.Exists("/frozen")
		return err == nil &&
			!there
	})
}

// An ensemble of ZooKeeper serves without one of three, which gets what it has missed when it is back.
func TestEnsemble(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.ZooKeeper, Count: 3, Tick: 100 * time.Millisecond})
	if got := names(g); !slices.Equal(got, []string{"z0", "z1", "z2"}) {
		t.Errorf("the servers are %v", got)
	}
	listensOnLoopbackOnly(t, g)
	c, _ := session(t, g.Server("z0"), 2*time.Second)
	create(t, c, "/a", 0)
	must(t, g.Server("z2").Stall())
	create(t, c, "/b", 0) // two of three serve
	must(t, g.Server("z2").Crash(faults.CrashProcess))
	must(t, g.Server("z2").Restart(ctx))
	late, _ := session(t, g.Server("z2"), 2*time.Second)
	eventually(t, "the third has what it has missed", func() bool {
		_, _ = late.Sync("/b")
		there, _, err := late.Exists("/b")
		return err == nil && there
	})
	if err := g.Server("z0").JumpClock(time.Second); !errors.Is(err, faults.ErrUnable) {
		t.Errorf("a server with the clock of the machine: %v", err)
	}
	leads(t, g)
}

// A MariaDB keeps what was committed over a crash, stands while it is stalled, and tells the time of its own clock.
func TestMariaDB(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.MariaDB, Clock: true})
	m0 := g.Server("m0")
	db, err := sql.Open("mysql", "locksim@tcp("+m0.Addr()+")/locksim?parseTime=true")
	must(t, err)
	defer db.Close() //nolint:errcheck // the server ends after it
	for _, statement := range []string{"CREATE TABLE t (n INT)", "INSERT INTO t VALUES (1)"} {
		_, err = db.ExecContext(ctx, statement)
		must(t, err)
	}
	listensOnLoopbackOnly(t, g)
	must(t, m0.Stall())
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := db.PingContext(short); err == nil {
		t.Error("a stalled server answers")
	}
	must(t, m0.Resume())
	open, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = open.ExecContext(ctx, "INSERT INTO t VALUES (2)")
	must(t, err)
	must(t, m0.Crash(faults.CrashProcess))
	if err := open.Commit(); err == nil {
		t.Error("a transaction outlives the server")
	}
	must(t, m0.Restart(ctx))
	var sum int
	eventually(t, "the server answers",
		func() bool { return db.QueryRowContext(ctx, "SELECT SUM(n) FROM t").Scan(&sum) == nil })
	if sum != 1 {
		t.Errorf("after a crash the sum is %d, want what was committed: 1", sum)
	}
	clockOf(t, m0, func() time.Time {
		var now time.Time
		must(t, db.QueryRowContext(ctx, "SELECT UTC_TIMESTAMP(6)").Scan(&now))
		return now
	})
}

// A PostgreSQL keeps what was committed over a crash of all its processes, stands while it is stalled, and tells the
// time of its own clock.
func TestPostgres(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Postgres, Clock: true})
	p0 := g.Server("p0")
	if _, err := g.Leader(ctx); err == nil {
		t.Error("a PostgreSQL leads")
	}
	db, err := sql.Open("pgx", p0.Source())
	must(t, err)
	defer db.Close() //nolint:errcheck // the server ends after it
	_, err = db.ExecContext(ctx, "CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
	must(t, err)
	listensOnLoopbackOnly(t, g)
	open, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = open.ExecContext(ctx, "INSERT INTO t VALUES (2)")
	must(t, err)
	must(t, p0.Stall())
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := db.PingContext(short); err == nil {
		t.Error("a stalled server answers")
	}
	must(t, p0.Resume())
	must(t, p0.Stall())
	must(t, p0.Crash(faults.CrashProcess))
	if err := open.Commit(); err == nil {
		t.Error("a transaction outlives the server")
	}
	must(t, p0.Restart(ctx))
	var sum int
	eventually(t, "the server answers",
		func() bool { return db.QueryRowContext(ctx, "SELECT sum(n) FROM t").Scan(&sum) == nil })
	if sum != 1 {
		t.Errorf("after a crash the sum is %d, want what was committed: 1", sum)
	}
	clockOf(t, p0, func() time.Time {
		var now time.Time
		must(t, db.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&now))
		return now
	})
	if _, err := p0.Keys(ctx); !errors.Is(err, faults.ErrUnable) {
		t.Errorf("keys: %v", err)
	}
}

// clockOf checks the faults of a server's clock, as it tells the time itself.
func clockOf(t *testing.T, s *server.Server, now func() time.Time) {
	t.Helper()
	// between checks that it tells its own time, and one from a range.
	between := func(what string, from, to time.Time) {
		t.Helper()
		from = from.Truncate(time.Microsecond) // it tells no finer
		earliest := s.Time()
		told := now()
		latest := s.Time()
		if told.Before(earliest.Add(-time.Millisecond)) || told.After(latest.Add(time.Millisecond)) {
			t.Errorf("%s: it says %v, want %v to %v", what, told, earliest, latest)
		}
		if told.Before(from) || told.After(to) {
			t.Errorf("%s: it says %v, want %v to %v", what, told, from, to)
		}
	}
	between("at first", time.Now().Add(-time.Second), time.Now().Add(patience))
	must(t, s.JumpClock(time.Hour))
	between("after a jump", time.Now().Add(time.Hour-time.Second), time.Now().Add(time.Hour+patience))
	must(t, s.JumpClock(-2*time.Hour))
	between("after a jump back", time.Now().Add(-time.Hour-time.Second), time.Now().Add(-time.Hour+patience))
	must(t, s.JumpClock(time.Hour))
	must(t, s.DriftClock(faults.MinPPM))
	frozen := s.Time()
	time.Sleep(20 * time.Millisecond)
	between("frozen", frozen, frozen)
	must(t, s.JumpClock(time.Second))
	between("frozen, after a jump", frozen.Add(time.Second), frozen.Add(time.Second))
	begin := time.Now()
	must(t, s.DriftClock(faults.MaxPPM))
	time.Sleep(50 * time.Millisecond)
	passed := s.Time().Sub(frozen) - time.Second
	if real := time.Since(begin); passed < 500*time.Millisecond || passed > 10*real+50*time.Millisecond {
		t.Errorf("ten times too fast: %v pass in %v", passed, real)
	}
	between("fast", frozen, frozen.Add(time.Hour))
	must(t, s.DriftClock(0))
}
