package sqllock_test

import (
	"context"
	"database/sql"
	"log"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"locksim/lock"
	"locksim/lock/sqllock"
)

// A lock on rows of a table, for work on something that is not in the database: its token is sent along. A watchdog
// renews the lease for as long as the work takes.
func ExampleTable() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://app@db.internal/app")
	if err != nil {
		log.Fatal(err)
	}
	table, err := sqllock.NewTable(db, sqllock.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, table.Schema()); err != nil {
		log.Fatal(err)
	}
	locks, err := lock.NewWatchdog(table, lock.WatchdogOptions{TTL: lock.DefaultTTL})
	if err != nil {
		log.Fatal(err)
	}
	lease, err := locks.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx) //nolint:errcheck // an example
	charge(lease.Context(), lease.Token())
}

// A lock for work on the same database: it is done in the transaction that has the lock, and needs no token.
func ExampleForUpdate() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://app@db.internal/app")
	if err != nil {
		log.Fatal(err)
	}
	locks, err := sqllock.NewForUpdate(db, sqllock.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, locks.Schema()); err != nil {
		log.Fatal(err)
	}
	lease, err := locks.Acquire(ctx, "account:7")
	if err != nil {
		log.Fatal(err)
	}
	err = lease.(*sqllock.Lease).Do(func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - 10 WHERE id = 7`)
		return err
	})
	if err != nil {
		log.Print(err) // undone
	}
	if err := lease.Release(ctx); err != nil { // it commits
		log.Print(err)
	}
}

func charge(context.Context, uint64) {}
