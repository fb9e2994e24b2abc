package sqllock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
	"locksim/lock/sqllock"
)

// exec runs statements.
func exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// value is the first value of the first row of a query.
func value[T any](t testing.TB, db *sql.DB, query string, args ...any) (v T) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestOptions(t *testing.T) {
	db := new(sql.DB)
	for _, c := range []struct {
		o    sqllock.Options
		want string // a part of the error; "" for none
	}{
		{sqllock.Options{}, ""},
		{sqllock.Options{TTL: time.Second, Table: "app.locks", Backoff: lock.Backoff{Max: time.Second}}, ""},
		{sqllock.Options{TTL: -1}, "TTL -1ns is less than 10ms"},
		{sqllock.Options{TTL: time.Millisecond}, "TTL 1ms is less than 10ms"},
		{sqllock.Options{TTL: time.Second + 1}, "not a whole number of milliseconds"},
		{sqllock.Options{Backoff: lock.Backoff{Min: -1}}, "is negative"},
		{sqllock.Options{Backoff: lock.Backoff{Min: 2, Max: 1}}, "Backoff.Min 2ns is above Backoff.Max 1ns"},
		{sqllock.Options{ReleaseTimeout: -1}, "ReleaseTimeout -1ns is negative"},
		{sqllock.Options{Table: `locks"; DROP`}, "is not a plain name"},
		{sqllock.Options{TTL: -1, ReleaseTimeout: -1}, "ReleaseTimeout"},
	} {
		for _, k := range kinds() {
			_, err := k.new(db, c.o)
			if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%s, %+v: %v, want %q", k.name, c.o, err, c.want)
			}
		}
	}
	for _, k := range kinds() {
		if _, err := k.new(nil, sqllock.Options{}); err == nil || !strings.Contains(err.Error(), "no database") {
			t.Errorf("%s without a database: %v", k.name, err)
		}
	}
}

// transactional are the kinds with a transaction.
func transactional(t *testing.T, db *sql.DB, o sqllock.Options) map[string]lock.Locker {
	t.Helper()
	rows, err := sqllock.NewForUpdate(db, o)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, rows.Schema())
	advisory, err := sqllock.NewAdvisoryTransaction(db, o)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]lock.Locker{"for update": rows, "advisory transaction": advisory}
}

// What a holder writes in the transaction that has the lock counts from its release on. Work that fails is undone, and
// leaves what was done before.
func TestDo(t *testing.T) {
	db := database(t, nil)
	exec(t, db, `CREATE TABLE done (kind text, what text)`)
	for name, l := range transactional(t, db, sqllock.Options{Table: "do_locks"}) {
		t.Run(name, func(t *testing.T) {
			held, err := l.Acquire(t.Context(), "order:42")
			if err != nil {
				t.Fatal(err)
			}
			lease := held.(*sqllock.Lease)
			write := func(what string) func(*sql.Tx) error {
				return func(tx *sql.Tx) error {
					_, err := tx.ExecContext(t.Context(), `INSERT INTO done VALUES ($1, $2)`, name, what)
					return err
				}
			}
			if err := lease.Do(write("first")); err != nil {
				t.Fatal(err)
			}
			failure := errors.New("no")
			if err := lease.Do(func(tx *sql.Tx) error { return errors.Join(write("second")(tx), failure) }); !errors.Is(err,
				failure) {
				t.Errorf("work that fails: %v", err)
			}
			if err := lease.Do(func(tx *sql.Tx) error {
				_,
					err := tx.ExecContext(t.Context(), `no statement`)
				return err
			}); err == nil {
				t.Error("a statement that the database refuses: no error")
			}
			if err := lease.Do(write("third")); err != nil {
				t.Errorf("work after work that failed: %v", err)
			}
			const written = `SELECT coalesce(string_agg(what, ','), '') FROM done WHERE kind = $1`
			if got := value[string](t, db, written, name); got != "" {
				t.Errorf("before the release the table has %q", got)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := value[string](t, db, written, name); got != "first,third" {
				t.Errorf("after the release the table has %q", got)
			}
			if err := lease.Do(write("late")); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("work after the release: %v, want %v", err, lock.ErrNotHeld)
			}
		})
	}
}

// A session of the database that is ended by an administrator has lost the lock and its writes. The holder is told by
// its next heartbeat.
func TestSessionEnded(t *testing.T) {
	soak.RealTime(t)
	db := database(t, nil)
	exec(t, db, `CREATE TABLE lost (what text)`)
	for name, l := range transactional(t, db, sqllock.Options{TTL: ttl, Table: "ended_locks"}) {
		t.Run(name, func(t *testing.T) {
			held, err := l.Acquire(t.Context(), "order:42")
			if err != nil {
				t.Fatal(err)
			}
			lease := held.(*sqllock.Lease)
			if err := lease.Do(func(tx *sql.Tx) error {
				_, err := tx.ExecContext(t.Context(), `INSERT INTO lost VALUES ('written')`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()`)
			<-lease.Lost()
			if err := context.Cause(lease.Context()); !errors.Is(err, lock.ErrLost) {
				t.Errorf("the cause is %v, want %v", err, lock.ErrLost)
			}
			if err := lease.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("the release: %v, want %v", err, lock.ErrNotHeld)
			}
			if n := value[int](t, db, `SELECT count(*) FROM lost`); n != 0 {
				t.Errorf("%d rows are written", n)
			}
			next, err := l.Acquire(t.Context(), "order:42")
			if err != nil {
				t.Fatal(err)
			}
			if err := next.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A holder that works for longer than the TTL between two statements has lost the lock: the database ends its session.
func TestHolderThatHangs(t *testing.T) {
	soak.RealTime(t)
	db := database(t, nil)
	for name, l := range transactional(t, db, sqllock.Options{TTL: ttl, Table: "hung_locks"}) {
		t.Run(name, func(t *testing.T) {
			held, err := l.Acquire(t.Context(), "order:42")
			if err != nil {
				t.Fatal(err)
			}
			err = held.(*sqllock.Lease).Do(func(*sql.Tx) error { // nothing renews the lease meanwhile
				<-held.Lost()
				next, err := l.Acquire(t.Context(), "order:42")
				if err != nil {
					return err
				}
				if before := time.Until(held.Until()); before > 0 {
					t.Errorf("the next client is granted the lock %v before the end of the lease", before)
				}
				return next.Release(t.Context())
			})
			if err == nil {
				t.Error("work in a transaction that the database has ended: no error")
			}
			if err := held.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("the release: %v, want %v", err, lock.ErrNotHeld)
			}
		})
	}
}

// An advisory lock of a session has no transaction.
func TestAdvisoryHasNoTransaction(t *testing.T) {
	l, err := sqllock.NewAdvisory(database(t, nil), sqllock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := l.Acquire(t.Context(), "order:42")
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.(*sqllock.Lease).Do(func(*sql.Tx) error { return nil }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want %v", err, errors.ErrUnsupported)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Clients that change one row at the same time count all of their changes, and all conflicts.
func TestOptimistic(t *testing.T) {
	db := database(t, nil)
	exec(t, db, `CREATE TABLE stock (id text PRIMARY KEY, amount int NOT NULL, fence_version bigint NOT NULL DEFAULT 0)`,
		`INSERT INTO stock VALUES ('apple', 0)`)
	table := sqlguard.Options{Table: "stock"}
	o, err := sqllock.NewOptimistic(db, table,
		sqllock.Options{Backoff: lock.Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	add := func(ctx context.Context, key string, before func()) (int, error) {
		var amount int
		return o.Change(ctx, key, []sqlguard.Column{{Name: "amount", Value: &amount}}, func() ([]sqlguard.Column, error) {
			before()
			return []sqlguard.Column{{Name: "amount", Value: amount + 1}}, nil
		})
	}
	const clients, each = 6, 20
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range each {
				if _, err := add(t.Context(), "apple", func() {}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := value[int](t, db, `SELECT amount FROM stock`); got != clients*each {
		t.Errorf("the amount is %d, want %d", got, clients*each)
	}

	tries := 0
	conflicts, err := add(t.Context(), "apple", func() {
		if tries++; tries <= 3 {
			exec(t, db, `UPDATE stock SET amount = 0, fence_version = fence_version + 1`)
		}
	})
	if got := value[int](t, db, `SELECT amount FROM stock`); err != nil || conflicts != 3 || got != 1 {
		t.Errorf("%d conflicts, %v, and the amount is %d, want 3 and 1", conflicts, err, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := add(ctx, "apple", func() {
		exec(t, db, `UPDATE stock SET fence_version = fence_version + 1`)
		cancel()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("a change whose context ends: %v", err)
	}
	if _, err := add(t.Context(), "pear", func() {}); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("a row that does not exist: %v", err)
	}
	for _, wrong := range []sqlguard.Options{{}, {Table: "stock", Mode: fence.Seal}} {
		if _, err := sqllock.NewOptimistic(db, wrong, sqllock.Options{}); err == nil {
			t.Errorf("%+v: no error", wrong)
		}
	}
}
