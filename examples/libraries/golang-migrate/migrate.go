// Command golang-migrate has the lock with which golang-migrate lets one process migrate a database of MySQL.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/mysql"

	"locksim/examples/libraries"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/mysqllocks"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "golang-migrate", Module: "github.com/golang-migrate/migrate/v4",
		Source: "https://github.com/golang-migrate/migrate",
		Locks: []libraries.Lock{{
			Runs: 30, // with a real server in the world a run takes a tenth of a second
			Lock: named(),
			Is:   "a name of MySQL's GET_LOCK, for as long as a connection, which migrates too.",
			Options: "WithInstance, with a configuration for each lock, whose DatabaseName is its name. Lock gives up after " +
				"10 s, and is called again then. Its user works elsewhere: a migration works on the connection that has the lock.",
			Says: []libraries.Sentence{{
				Text: "Database-specific locking features are used by *some* database drivers to prevent multiple instances of " +
					"migrate from running migrations on the same database at the same time.",
				Where: "FAQ, What happens if two programs try and update the database at the same time?", File: "FAQ.md",
				Under: []lock.Fault{"", lock.FaultPause, lock.FaultSlow, lock.FaultCrash, lock.FaultRestart, lock.FaultPower,
					lock.FaultLatency, lock.FaultWallClock, lock.FaultStall},
			}},
			Refuses: map[lock.Fault]string{
				lock.FaultNodePower: "a client that waits for the answer of a machine without power is told by TCP's keep-alive, " +
					"after 15 s by default in Go, and the world has none",
			},
			Fence:    "None.",
			Untested: "The migrations.",
		}},
	})
}

// named is asked again until it is not taken.
func named() scenarios.Lock {
	return scenarios.Lock{Name: "golang-migrate", Traits: scenarios.Traits{
		Promise: lock.SessionPromise(), Servers: mysqllocks.With("CREATE TABLE schema_migrations (version BIGINT NOT NULL " +
			"PRIMARY KEY, dirty BOOLEAN NOT NULL)"),
		Lease: scenarios.LeaseHeld, Detection: time.Hour, Taken: []error{database.ErrLocked},
	}, New: func(e scenarios.Env) (lock.Locker, error) {
		db, err := mysqllocks.Open(e)
		if err != nil {
			return nil, err
		}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			conn, err := db.Conn(ctx)
			if err != nil {
				return nil, scenarios.Unanswered(err)
			}
			d, err := mysql.WithConnection(ctx, conn, &mysql.Config{DatabaseName: name})
			if err != nil {
				return nil, scenarios.Unanswered(errors.Join(err, conn.Close()))
			}
			if err := scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(context.Context) (bool, error) {
				err := d.Lock()
				if errors.Is(err, database.ErrLocked) {
					return false, nil
				}
				return err == nil, err
			}); err != nil {
				return nil, scenarios.Unanswered(errors.Join(err, d.Close()))
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(context.Context) error {
				return scenarios.Unanswered(errors.Join(d.Unlock(), d.Close()))
			}}), nil
		}), nil
	}}
}
