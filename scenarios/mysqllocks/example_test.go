package mysqllocks_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/mysqllocks"
)

// getLock takes a named lock of the server, on a connection of its own.
func getLock(ctx context.Context, db *sql.DB, name string) (unlock func(context.Context) error, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var got sql.NullInt64
	for got.Int64 != 1 {
		if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 1)", name).Scan(&got); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return func(ctx context.Context) error {
		defer conn.Close() //nolint:errcheck // the pool has it back
		_, err := conn.ExecContext(ctx, "SELECT RELEASE_LOCK(?)", name)
		return err
	}, nil
}

// adapter is that lock as locksim runs it.
func adapter() scenarios.Lock {
	return scenarios.Lock{
		Name: "get-lock",
		Traits: scenarios.Traits{Promise: lock.SessionPromise(), Servers: mysqllocks.Servers(),
			Lease: scenarios.LeaseHeld, Detection: 10 * time.Second},
		New: func(e scenarios.Env) (lock.Locker, error) {
			db, err := mysqllocks.Open(e)
			if err != nil {
				return nil, err
			}
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				unlock, err := getLock(ctx, db, name)
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(ctx context.Context) error {
					return scenarios.Unanswered(unlock(ctx))
				}}), nil
			}), nil
		},
	}
}

// The lock of the page on MySQL gives a connection back to the pool that still has the lock, if the context of a
// release has ended: then no client gets it any more.
func TestGetLockOfThePage(t *testing.T) {
	testruns.NeedsMariaDB(t)
	for request, want := range map[string]checker.Label{"1s": checker.Safe, "7ms": checker.Stuck} {
		sc, err := scenarios.Parse("release.yaml", []byte(`
name: release
world: {mariadb: 1, clients: 1, latency: 1ms}
lock: {kind: get-lock, ttl: 10s, backoff: 500ms}
workload: {rounds: 1, hold: 0s, think: 0s, request: `+request+`}
`), adapter())
		if err != nil {
			t.Fatal(err)
		}
		o, err := scenarios.Run(sc, adapter(), scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Modes[0].Verdict; got.Label != want {
			t.Errorf("with %s for a request it is %s, want %s: %s", request, got.Label, want, got.Reasons[0].Text)
		}
	}
}
