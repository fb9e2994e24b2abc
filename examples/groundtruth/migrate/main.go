// Command migrate has the lock with which mattes/migrate lets one process migrate a database, over the driver that
// locksim's databases have.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/mattes/migrate/database"
	"github.com/mattes/migrate/database/postgres"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

func main() { groundtruth.Main(map[string]scenarios.Lock{"migrate-296": advisory()}) }

// advisory is asked again until it is not taken.
func advisory() scenarios.Lock {
	return scenarios.Lock{Traits: scenarios.Traits{Servers: sqllocks.With("CREATE TABLE schema_migrations (version " +
		"BIGINT PRIMARY KEY, dirty BOOLEAN NOT NULL)"),
		Lease: scenarios.LeaseHeld, Detection: time.Hour, Taken: []error{database.ErrLocked},
		Keys: func(string) []string { return nil }},
		New: func(e scenarios.Env) (lock.Locker, error) {
			db, err := sqllocks.Open(e)
			if err != nil {
				return nil, err
			}
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				of := &postgres.Config{}
				d, err := postgres.WithInstance(db, of)
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				of.DatabaseName = name // a lock is that of a database
				if err := scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(context.Context) (bool, error) {
					err := d.Lock()
					if errors.Is(err, database.ErrLocked) {
						return false, nil
					}
					return err == nil, err
				}); err != nil {
					return nil, scenarios.Unanswered(err)
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(context.Context) error {
					return scenarios.Unanswered(d.Unlock())
				}}), nil
			}), nil
		}}
}
