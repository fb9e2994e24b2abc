package sqllocks

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/lock"
	"locksim/lock/broken/sqlbroken"
	"locksim/lock/fence/sqlguard"
	"locksim/lock/sqllock"
	"locksim/scenarios/internal/sqldata"
	"locksim/scenarios/subject"
	"locksim/sim/postgres"
	"locksim/sim/trace"
)

// schema makes the tables of the locks and of the data.
func schema() ([]string, error) {
	db := stdlib.OpenDB(pgx.ConnConfig{}) // it is never dialled
	defer func() { _ = db.Close() }()
	table, err := sqllock.NewTable(db, sqllock.Options{})
	forUpdate, failure := sqllock.NewForUpdate(db, sqllock.Options{Table: rows})
	if err = errors.Join(err, failure); err != nil {
		return nil, err
	}
	return append(sqlbroken.Schema(),
		table.Schema(), forUpdate.Schema(),
		`CREATE TABLE `+sqldata.Table+
			` (key text PRIMARY KEY, value text NOT NULL DEFAULT '', fence_token bigint NOT NULL DEFAULT 0,
			fence_grant text NOT NULL DEFAULT '', fence_version bigint NOT NULL DEFAULT 0)`,
	), nil
}

func leases() (all []postgres.LeaseTable) {
	for _, table := range []string{sqllock.DefaultTable, sqlbroken.Leases} {
		all = append(all, postgres.LeaseTable{Table: table, Key: "resource", Owner: "owner", Until: "expires_at"})
	}
	return all
}

// database is PostgreSQL for the data. The client tells the server by application_name which operation its next
// statements are about.
var database = sqldata.Database{
	Open: func(e subject.Env) (*sql.DB, error) { return Open(e) },
	Notes: func() (func(trace.Decision), error) {
		server, err := postgres.Shared()
		if err != nil {
			return nil, err
		}
		return server.Op, nil
	},
	About: func(ctx context.Context, on sqlguard.DB, op string) (sqlguard.DB, error) {
		_, err := on.ExecContext(ctx, `SET application_name = '`+op+`'`)
		return on, err
	},
	Placeholders: sqlguard.Dollar, Key: "key",
	Insert: `INSERT INTO ` + sqldata.Table + ` (key) VALUES ($1) ON CONFLICT DO NOTHING`,
}

// Data is the data of a lock in this database. work calls a function with the transaction of a lease, and returns its
// error; nil is for a lock without a transaction.
func Data(work func(l lock.Lease, do func(tx *sql.Tx) error) error) *subject.Data {
	return database.Data(work)
}

// inTransaction works in the transaction of one of our leases.
func inTransaction(l lock.Lease, do func(tx *sql.Tx) error) error { return l.(*sqllock.Lease).Do(do) }
