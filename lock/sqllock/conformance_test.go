package sqllock_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/internal/pgserver"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/locktest"
	"locksim/lock/sqllock"
	"locksim/sim/postgres"
)

// ttl is short, so that the suite is fast.
const ttl = 800 * time.Millisecond

// noPing keeps the pool from asking whether a connection is alive: a message that is lost shall be one of the lock.
var noPing = stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false })

// free is a PostgreSQL that runs freely, and world one in virtual time.
var free, world struct {
	err  error
	real *pgserver.Server
	sim  *postgres.Server
}

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	free.real, free.err = pgserver.Start(ctx, pgserver.Options{Settings: []string{"max_connections=400"}})
	world.sim, world.err = postgres.Start(ctx)
	cancel()
	code := m.Run()
	if free.real != nil {
		_ = free.real.Stop()
	}
	if world.sim != nil {
		_ = world.sim.Stop()
	}
	os.Exit(code)
}

// skip skips a test where there is no PostgreSQL, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func skip(t testing.TB, err error) {
	t.Helper()
	missing := errors.Is(err, pgserver.ErrMissing) || errors.Is(err, pgserver.ErrNoCompiler)
	switch {
	case missing && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1":
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	case err != nil:
		t.Fatal(err)
	}
}

// source names the database that runs freely.
func source(t testing.TB) string {
	t.Helper()
	skip(t, free.err)
	return free.real.Source()
}

// simulated is the server for worlds.
func simulated(t testing.TB) *postgres.Server {
	t.Helper()
	skip(t, world.err)
	return world.sim
}

// database is a database whose connections are dialled through a wire, if that is not nil.
func database(t testing.TB, wire *locktest.Wire) *sql.DB {
	t.Helper()
	cfg, err := pgx.ParseConfig(source(t))
	if err != nil {
		t.Fatal(err)
	}
	if wire != nil {
		cfg.DialFunc = wire.Dial
	}
	db := stdlib.OpenDB(*cfg, noPing)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// kind is a kind of lock.
type kind struct {
	name   string
	tokens bool
	renews bool
	new    func(db *sql.DB, o sqllock.Options) (lock.Locker, error)
}

func kinds() []kind {
	return []kind{
		{"table", true, false, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) { return sqllock.NewTable(db, o) }},
		{"table renewed", true, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) {
			l, err := sqllock.NewTable(db, o)
			if err != nil {
				return nil, err
			}
			return lock.NewWatchdog(l, lock.WatchdogOptions{TTL: cmp.Or(o.TTL, lock.DefaultTTL), Clock: o.Clock})
		}},
		{"for update", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) {
			return sqllock.NewForUpdate(db,
				o)
		}},
		{"queue", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) { return sqllock.NewQueue(db, o) }},
		{"advisory", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker,
			error) {
			return sqllock.NewAdvisory(db, o)
		}},
		{"advisory transaction", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) {
			return sqllock.NewAdvisoryTransaction(db, o)
		}},
	}
}

func (k kind) isTable() bool { return strings.HasPrefix(k.name, "table") }

// variant is a kind whose waiters poll, or wait in the database.
type variant struct {
	kind
	blocks bool
}

// variants are all that there are. A table and a queue are always polled.
func variants() (all []variant) {
	for _, k := range kinds() {
		all = append(all, variant{k, false})
		if !k.isTable() && k.name != "queue" {
			k.name += " blocking"
			all = append(all, variant{k, true})
		}
	}
	return all
}

// options of a variant, which exclude no other one.
func (v variant) options(ttl time.Duration) sqllock.Options {
	return sqllock.Options{TTL: ttl, Backoff: lock.Backoff{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond},
		Block: v.blocks,
		Table: "locks_" + strings.ReplaceAll(v.name, " ", "_"), Prefix: v.name + ":"}
}

func (v variant) locker(t testing.TB, db *sql.DB, o sqllock.Options) lock.Locker {
	t.Helper()
	l, err := v.new(db, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// world is the suite's view of a database, without its clients. It makes the table.
func (v variant) world(t testing.TB, admin *sql.DB, o sqllock.Options) (w locktest.World) {
	t.Helper()
	if !v.isTable() {
		if rows, ok := v.locker(t, admin, o).(interface{ Schema() string }); ok {
			exec(t, admin, rows.Schema())
		}
		return w
	}
	table, err := sqllock.NewTable(admin, o)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, admin, table.Schema())
	w.Left = func(t testing.TB, resource string) (left []string) {
		t.Helper()
		var owner string
		err := admin.QueryRowContext(context.Background(), `SELECT owner FROM `+o.Table+
			` WHERE resource = $1 AND expires_at > now()`, resource).Scan(&owner)
		if err == nil {
			left = append(left, owner)
		} else if !errors.Is(err, sql.ErrNoRows) {
			t.Fatal(err)
		}
		return left
	}
	w.Forget = func(t testing.TB, resource string) {
		t.Helper()
		exec(t, admin, `UPDATE `+o.Table+` SET expires_at = '-infinity' WHERE resource = '`+resource+`'`)
	}
	return w
}

// Each kind keeps the promises of every lock on a real PostgreSQL, whether its waiters poll or wait in the database.
func TestConformance(t *testing.T) {
	soak.RealTime(t)
	turns := make(chan struct{}, 2) // they mostly wait, and the machine may be busy
	var all sync.WaitGroup
	for _, v := range variants() {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			t.Run(v.name, func(t *testing.T) {
				o := v.options(ttl)
				h := locktest.Harness{TTL: ttl, Tokens: v.tokens, Renews: v.renews, Connected: !v.isTable(), Together: 8,
					World: v.world(t, database(t, nil), o)}
				h.New = func(t testing.TB, _ int) locktest.Client {
					t.Helper()
					wire := locktest.NewWire(nil)
					return locktest.Client{Locker: v.locker(t, database(t, wire), o), Wire: wire}
				}
				locktest.Run(t, h)
			})
		})
	}
	all.Wait()
}
