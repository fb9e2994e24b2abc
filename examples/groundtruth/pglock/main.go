// Command pglock has the lock of cirello.io/pglock, over the driver that locksim's databases have.
package main

import (
	"context"
	"time"

	"cirello.io/pglock"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{"pglock-40": renewed(), "pglock-power": renewed()})
}

// renewed is the lock without the heartbeats of the library: its user sends them, as its documentation has it.
func renewed() scenarios.Lock {
	const ttl = 20 * time.Second // the default
	return scenarios.Lock{Traits: scenarios.Traits{Servers: sqllocks.With(
		"CREATE TABLE "+table+" (name CHARACTER VARYING(255) PRIMARY KEY, record_version_number BIGINT, data BYTEA, owner "+
			"CHARACTER VARYING(255))",
		"CREATE SEQUENCE "+table+"_rvn OWNED BY "+table+".record_version_number",
	)}, New: func(e scenarios.Env) (lock.Locker, error) {
		db, err := sqllocks.Open(e)
		if err != nil {
			return nil, err
		}
		locks, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(ttl), pglock.WithHeartbeatFrequency(0),
			pglock.WithCustomTable(table))
		if err != nil {
			return nil, err
		}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			asked := time.Now()
			l, err := locks.AcquireContext(ctx, name)
			if err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				TTL: ttl, Asked: asked.Add(time.Since(asked).Truncate(ttl)), // it asks once in a TTL
				Unlock: func(ctx context.Context) error {
					return scenarios.NotHeld(locks.ReleaseContext(context.WithoutCancel(ctx), l), pglock.ErrLockAlreadyReleased)
				},
				Extend: func(ctx context.Context) error {
					return scenarios.NotHeld(locks.SendHeartbeat(ctx, l), pglock.ErrLockAlreadyReleased)
				},
			}), nil
		}), nil
	}}
}

// table is apart from those of locksim.
const table = "pglocks"
