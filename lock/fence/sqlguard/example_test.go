package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"log"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

// A payment under a fenced lock, on PostgreSQL. It is not run here, as it needs a database; the example in module
// sqltest is.
func Example() {
	var (
		ctx   = context.Background()
		locks *lock.Fenced
		db    *sql.DB
	)
	guard, err := sqlguard.New(sqlguard.Options{Mode: fence.Seal, Table: "accounts", Placeholders: sqlguard.Dollar})
	if err != nil {
		log.Fatal(err)
	}

	lease, err := locks.Acquire(ctx, "account:42")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = lease.Release(ctx) }()
	op := fence.Op{Token: lease.Token()}

	var balance int
	if _, err := guard.Read(ctx, db, 42, op, sqlguard.Column{Name: "balance", Value: &balance}); err != nil {
		log.Fatal(err)
	}
	err = guard.Write(ctx, db, 42, op, sqlguard.Column{Name: "balance", Value: balance - 7})
	switch {
	case errors.Is(err, fence.ErrStale):
		log.Print("nothing was written: another client holds the lock")
	case errors.Is(err, sqlguard.ErrOutcomeUnknown):
		log.Print("read again to see whether it was written")
	case err != nil:
		log.Print(err)
	}
}
