package sqllock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locksim/faults"
	"locksim/internal/mariadbserver"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence/sqlguard"
	"locksim/lock/locktest"
	"locksim/lock/sqllock"
	"locksim/sim"
	"locksim/sim/mariadb"
)

// mysqlKinds are the kinds in MySQL.
func mysqlKinds() []kind {
	all := kinds()[:4]
	return append(all, kind{"named", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) {
		return sqllock.NewNamed(db, o)
	}})
}

func mysqlVariants() (all []variant) {
	for _, k := range mysqlKinds() {
		all = append(all, variant{k, false})
		if !k.isTable() && k.name != "queue" {
			k.name += " blocking"
			all = append(all, variant{k, true})
		}
	}
	return all
}

// dialled is a database that is reached so. found lets it count the rows that an UPDATE has found, and not those that
// it has changed: that makes no difference to a lock.
func dialled(t testing.TB, dial func(ctx context.Context) (net.Conn, error), found bool) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = mariadbserver.User, "tcp", "m0:3306", mariadbserver.Database
	cfg.CheckConnLiveness, cfg.InterpolateParams, cfg.ClientFoundRows = false, true, found
	cfg.Logger = &mysql.NopLogger{}
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(c)
}

// mysqlWorld is the suite's view of a database of MySQL, without its clients. It makes the table.
func (v variant) mysqlWorld(t testing.TB, admin *sql.DB, o sqllock.Options) (w locktest.World) {
	t.Helper()
	switch l := v.locker(t, admin, o).(type) {
	case *sqllock.ForUpdate:
		exec(t, admin, l.Schema())
	case *sqllock.Queue:
		exec(t, admin, l.Schema())
	case *sqllock.Named:
	default:
		table, err := sqllock.NewTable(admin, o)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, admin, table.Schema())
		w.Left = func(t testing.TB, resource string) (left []string) {
			t.Helper()
			var owner string
			err := admin.QueryRowContext(context.Background(), `SELECT owner FROM `+o.Table+
				` WHERE resource = ? AND expires_at > UTC_TIMESTAMP(6)`, resource).Scan(&owner)
			if err == nil {
				left = append(left, owner)
			} else if !errors.Is(err, sql.ErrNoRows) {
				t.Fatal(err)
			}
			return left
		}
		w.Forget = func(t testing.TB, resource string) {
			t.Helper()
			exec(t, admin, `UPDATE `+o.Table+` SET expires_at = '1970-01-01' WHERE resource = '`+resource+`'`)
		}
	}
	return w
}

// withoutMariaDB skips a test where there is none, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func withoutMariaDB(t testing.TB, err error) {
	t.Helper()
	missing := errors.Is(err, mariadbserver.ErrMissing) || errors.Is(err, mariadbserver.ErrNoCompiler)
	switch {
	case missing && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1":
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	case err != nil:
		t.Fatal(err)
	}
}

// Each kind keeps the promises of every lock on a MariaDB in virtual time, whether its waiters poll or wait there.
func TestConformanceOfMySQLInTheWorld(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := mariadb.Start(ctx)
	withoutMariaDB(t, err)
	defer server.Stop() //nolint:errcheck // its guard ends it
	for i, v := range mysqlVariants() {
		t.Run(v.name, func(t *testing.T) {
			const ttl = 10 * time.Second
			h := locktest.Harness{TTL: ttl, Slack: 3 * time.Second, Tokens: v.tokens, Renews: v.renews, Connected: !v.isTable()}
			h.Fresh = func(t testing.TB, test func(locktest.World)) {
				t.Helper()
				_, err := sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{server}, Clients: 4, Untraced: true},
					func(w *sim.World) error {
						open := func(p *sim.Process, wire *locktest.Wire) *sql.DB {
							dial := p.Dial
							if wire != nil {
								dial = wire.Dial
							}
							db := dialled(t, func(ctx context.Context) (net.Conn, error) {
								return dial(ctx, "tcp", p.Address(mariadb.Name))
							}, i%2 == 0)
							p.OnEnd(func() { _ = db.Close() })
							return db
						}
						options := func(p *sim.Process) sqllock.Options {
							o := v.options(ttl)
							o.Dialect = sqllock.MySQL
							o.Backoff = lock.Backoff{Min: 100 * time.Millisecond, Max: 300 * time.Millisecond}
							o.Clock, o.Jitter, o.Entropy = p.Clock(), p.Source("lock"), p.Entropy("lock")
							return o
						}
						admin := w.NewProcess("admin")
						admin.Go(func() {
							world := v.mysqlWorld(t, open(admin, nil), options(admin))
							world.New = func(t testing.TB, i int) locktest.Client {
								t.Helper()
								p := w.Client(i)
								wire := locktest.NewWire(p.Dial)
								return locktest.Client{Locker: v.locker(t, open(p, wire), options(p)), Wire: wire}
							}
							test(world)
						})
						return w.RunUntil(w.Idle)
					})
				if err != nil {
					t.Error(err)
				}
			}
			locktest.Run(t, h)
		})
	}
}

// Each kind keeps the same promises on a MariaDB that runs freely.
func TestConformanceOfMySQL(t *testing.T) {
	soak.RealTime(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := mariadbserver.Start(ctx, mariadbserver.Options{Settings: []string{"max-connections=400"}})
	withoutMariaDB(t, err)
	defer server.Stop() //nolint:errcheck // its guard ends it
	open := func(t testing.TB, wire *locktest.Wire) *sql.DB {
		t.Helper()
		dial := (&net.Dialer{}).DialContext
		if wire != nil {
			dial = wire.Dial
		}
		db := dialled(t, func(ctx context.Context) (net.Conn, error) { return dial(ctx, "unix", server.Socket()) }, false)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	for _, v := range mysqlVariants() {
		t.Run(v.name, func(t *testing.T) {
			const ttl = 2 * time.Second
			o := v.options(ttl)
			o.Dialect = sqllock.MySQL
			h := locktest.Harness{TTL: ttl, Tokens: v.tokens, Renews: v.renews, Connected: !v.isTable(), Together: 8,
				World: v.mysqlWorld(t, open(t, nil), o)}
			h.New = func(t testing.TB, _ int) locktest.Client {
				t.Helper()
				wire := locktest.NewWire(nil)
				return locktest.Client{Locker: v.locker(t, open(t, wire), o), Wire: wire}
			}
			locktest.Run(t, h)
		})
	}
}

// Workers take the jobs of a queue in their order, and skip those that another one has. A job whose worker gives it up
// without a release, or is lost, is there for the next one; one that is done is not.
func TestQueue(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := mariadb.Start(ctx)
	withoutMariaDB(t, err)
	defer server.Stop() //nolint:errcheck // its guard ends it
	_, err = sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{server}, Clients: 2}, func(w *sim.World) error {
		queue := func(p *sim.Process) *sqllock.Queue {
			db := dialled(t, func(ctx context.Context) (net.Conn, error) {
				return p.Dial(ctx, "tcp", p.Address(mariadb.Name))
			}, false)
			p.OnEnd(func() { _ = db.Close() })
			q, err := sqllock.NewQueue(db, sqllock.Options{Dialect: sqllock.MySQL, TTL: 10 * time.Second, Table: "jobs",
				Context: p.Context(), Clock: p.Clock(), Jitter: p.Source("lock"), Entropy: p.Entropy("lock")})
			if err != nil {
				t.Fatal(err)
			}
			if p.Name() == "c0" {
				exec(t, db, q.Schema())
			}
			return q
		}
		next := func(ctx context.Context, q *sqllock.Queue) (string, lock.Lease) {
			job, l, err := q.Next(ctx)
			if err != nil {
				return err.Error(), nil
			}
			return job, l
		}
		release := func(l lock.Lease) {
			if err := l.Release(context.Background()); err != nil {
				t.Error(err)
			}
		}
		want := func(got, want string) {
			t.Helper()
			if !strings.Contains(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
		w.Client(0).Go(func() {
			ctx, q := w.Client(0).Context(), queue(w.Client(0))
			for _, job := range []string{"one", "two", "two", "three"} {
				if err := q.Put(ctx, job); err != nil {
					t.Error(err)
				}
			}
			got, one := next(ctx, q)
			want(got, "one")
			got, two := next(ctx, q)
			want(got, "two")
			_, err := q.TryAcquire(ctx, "one")
			want(fmt.Sprint(err), lock.ErrTaken.Error())
			_, err = q.Acquire(ctx, "")
			want(fmt.Sprint(err), "has no name")
			time.Sleep(2 * time.Second) // c1 has the third
			got, _ = next(ctx, q)
			want(got, lock.ErrTaken.Error())
			release(two)
			release(one)
			got, _ = next(ctx, q)
			want(got, lock.ErrTaken.Error())
			time.Sleep(20 * time.Second) // c1 has lost it
			got, three := next(ctx, q)
			want(got, "three")
			release(three)
			if err := w.Faults().ReplyError("m0", faults.ReplyDeadlock, 1, 0); err != nil { // of two that put it in
				t.Error(err)
			}
			_, err = q.TryAcquire(ctx, "one")
			want(fmt.Sprint(err), lock.ErrTaken.Error())
			if l, err := q.TryAcquire(ctx, "one"); err != nil { // it comes again
				t.Error(err)
			} else {
				release(l)
			}
			got, _ = next(ctx, q)
			want(got, lock.ErrTaken.Error())
		})
		w.Client(1).Go(func() {
			ctx, q := w.Client(1).Context(), queue(w.Client(1))
			time.Sleep(time.Second)
			got, _ := next(ctx, q)
			want(got, "three")
			if err := w.Faults().Pause("c1", time.Hour); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Error(err)
	}
}

// The options of MySQL, and locks that a kind of database does not have.
func TestDialects(t *testing.T) {
	db := new(sql.DB)
	named := func(o sqllock.Options) error { _, err := sqllock.NewNamed(db, o); return err }
	rows := func(o sqllock.Options) error { _, err := sqllock.NewForUpdate(db, o); return err }
	table := func(o sqllock.Options) error { _, err := sqllock.NewTable(db, o); return err }
	advisory := func(o sqllock.Options) error { _, err := sqllock.NewAdvisory(db, o); return err }
	inTransaction := func(o sqllock.Options) error { _, err := sqllock.NewAdvisoryTransaction(db, o); return err }
	optimistic := func(o sqllock.Options) error {
		_, err := sqllock.NewOptimistic(db, sqlguard.Options{Table: "t"}, o)
		return err
	}
	for _, c := range []struct {
		make func(sqllock.Options) error
		o    sqllock.Options
		want string // a part of the error; "" for none
	}{
		{table, sqllock.Options{Dialect: sqllock.MySQL, TTL: 1500 * time.Millisecond}, ""},
		{rows, sqllock.Options{Dialect: sqllock.MySQL, TTL: 1500 * time.Millisecond}, "not a whole number of seconds"},
		{named, sqllock.Options{Dialect: sqllock.MySQL, TTL: 1500 * time.Millisecond}, "not a whole number of seconds"},
		{rows, sqllock.Options{Dialect: sqllock.MySQL}, ""},
		{optimistic, sqllock.Options{Dialect: sqllock.MySQL}, ""},
		{table, sqllock.Options{Dialect: "oracle"}, `the Dialect "oracle": want "postgresql" or "mysql"`},
		{named, sqllock.Options{}, "the lock is one of mysql: take an Advisory lock"},
		{advisory, sqllock.Options{Dialect: sqllock.MySQL}, "the lock is one of postgresql: take a Named lock"},
		{inTransaction, sqllock.Options{Dialect: sqllock.MySQL}, "take a Named lock"},
	} {
		err := c.make(c.o)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if a, b := sqllock.NamedKey("order"), sqllock.NamedKey("ORDER"); a == b || len(a) != 32 || strings.ToLower(a) != a {
		t.Errorf("the keys of two names are %q and %q", a, b)
	}
}
