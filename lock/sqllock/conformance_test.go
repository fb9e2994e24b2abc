package sqllock_test

import (
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
	"locksim/lock"
	"locksim/lock/locktest"
	"locksim/lock/sqllock"
)

// ttl is short, so that the suite is fast.
const ttl = 800 * time.Millisecond

// shared is the server of all tests.
var shared struct {
	sync.Once
	server *pgserver.Server
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		_ = shared.server.Stop()
	}
	os.Exit(code)
}

// source names the database of the tests. Where there is no PostgreSQL it skips the test, or fails it with
// LOCKSIM_REQUIRE_LIVE=1.
func source(t testing.TB) string {
	t.Helper()
	shared.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		shared.server, shared.err = pgserver.Start(ctx, pgserver.Options{Settings: []string{"max_connections=200"}})
	})
	switch err := shared.err; {
	case errors.Is(err, pgserver.ErrMissing) && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1":
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	case err != nil:
		t.Fatal(err)
	}
	return shared.server.Source()
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
	noPing := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false }) // a fault is for the lock
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
		{"table, renewed", true, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) {
			l, err := sqllock.NewTable(db, o)
			if err != nil {
				return nil, err
			}
			return lock.NewWatchdog(l, lock.WatchdogOptions{TTL: ttl})
		}},
		{"for update", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) { return sqllock.NewForUpdate(db, o) }},
		{"advisory", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) { return sqllock.NewAdvisory(db, o) }},
		{"advisory transaction", false, true, func(db *sql.DB, o sqllock.Options) (lock.Locker, error) {
			return sqllock.NewAdvisoryTransaction(db, o)
		}},
	}
}

// Each kind keeps the promises of every lock on a real PostgreSQL, whether its waiters poll or wait in the database.
func TestConformance(t *testing.T) {
	var all sync.WaitGroup
	for _, k := range kinds() {
		for _, blocks := range []bool{false, true} {
			isTable := strings.HasPrefix(k.name, "table")
			if isTable && blocks {
				continue // it always polls
			}
			name := k.name
			if blocks {
				name += ", blocking"
			}
			all.Go(func() { t.Run(name, func(t *testing.T) { conform(t, k, name, isTable, blocks) }) }) // they mostly wait
		}
	}
	all.Wait()
}

// conform runs the suite on a kind.
func conform(t *testing.T, k kind, name string, isTable, blocks bool) {
	t.Helper()
	admin := database(t, nil)
	o := sqllock.Options{TTL: ttl, Backoff: lock.Backoff{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond}, Block: blocks, Prefix: name + ":",
		Table: "locks_" + strings.NewReplacer(" ", "_", ",", "").Replace(name)}
	l, err := k.new(admin, o)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := l.(interface{ Schema() string }); ok {
		exec(t, admin, s.Schema())
	} else if isTable {
		unrenewed, err := sqllock.NewTable(admin, o)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, admin, unrenewed.Schema())
	}
	h := locktest.Harness{TTL: ttl, Tokens: k.tokens, Renews: k.renews, Connected: !isTable, Together: 8}
	h.New = func(t testing.TB, _ int) locktest.Client {
		t.Helper()
		wire := locktest.NewWire(nil)
		l, err := k.new(database(t, wire), o)
		if err != nil {
			t.Fatal(err)
		}
		return locktest.Client{Locker: l, Wire: wire}
	}
	if isTable {
		h.Left = func(t testing.TB, resource string) (left []string) {
			t.Helper()
			var owner string
			err := admin.QueryRowContext(t.Context(), `SELECT owner FROM `+o.Table+` WHERE resource = $1 AND expires_at > now()`, resource).Scan(&owner)
			if err == nil {
				left = append(left, owner)
			} else if !errors.Is(err, sql.ErrNoRows) {
				t.Fatal(err)
			}
			return left
		}
		h.Forget = func(t testing.TB, resource string) {
			t.Helper()
			if _, err := admin.ExecContext(t.Context(), `UPDATE `+o.Table+` SET expires_at = '-infinity' WHERE resource = $1`, resource); err != nil {
				t.Fatal(err)
			}
		}
	}
	locktest.Run(t, h)
}
