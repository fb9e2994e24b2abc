//go:build ignore

// Command bun has the lock of bun's migrations, over the driver that locksim's databases have.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/migrate"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

func main() { groundtruth.Main(map[string]scenarios.Lock{"bun-crash": migrations()}) }

// migrations is asked again until it is not taken. A lock is that of a table of migrations.
func migrations() scenarios.Lock {
	const unique = "23505" // the code of an INSERT of a row that is there
	return scenarios.Lock{
		Traits: scenarios.Traits{Servers: sqllocks.With(`CREATE TABLE bun_migration_locks (id BIGSERIAL NOT NULL,
			table_name VARCHAR, PRIMARY KEY (id), UNIQUE (table_name))`), // as Migrator.Init makes it
			Lease: scenarios.LeaseHeld, Detection: time.Hour, Keys: func(string) []string { return nil }},
		New: func(e scenarios.Env) (lock.Locker, error) {
			db, err := sqllocks.Open(e)
			if err != nil {
				return nil, err
			}
			of := bun.NewDB(db, pgdialect.New())
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				m := migrate.NewMigrator(of, migrate.NewMigrations(), migrate.WithTableName(name))
				err := scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(ctx context.Context) (bool, error) {
					err := m.Lock(ctx)
					if taken, ok := errors.AsType[*pgconn.PgError](err); ok && taken.Code == unique {
						return false, nil
					}
					return err == nil, err
				})
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(ctx context.Context) error {
					return scenarios.Unanswered(m.Unlock(context.WithoutCancel(ctx)))
				}}), nil
			}), nil
		}}
}
