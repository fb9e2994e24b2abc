// Command goose has the lock with which goose lets one process migrate a database of MySQL.
package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	gooselock "github.com/pressly/goose/v3/lock"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/mysqllocks"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "goose", Module: "github.com/pressly/goose/v3", Source: "https://github.com/pressly/goose", Overlay: true,
		Findings: []libraries.Finding{{
			ID:     "goose-power",
			Status: libraries.NotKnown,
			Where:  "lock/internal/store/mysql.go, UpdateLease, AcquireLock, ReleaseLock",
			What: "A heartbeat is a transaction of several requests, as is a try and a release. A client that vanishes within " +
				"one keeps the row of the lock locked, and no other client gets the lock until the server notices. The lock in " +
				"PostgreSQL has one statement for each.",
			Draft: "goose-power.md",
		}},
		Locks: []libraries.Lock{{
			Runs: 30, // with a real server in the world a run takes a tenth of a second
			Lock: table(),
			Why:  map[string][]string{"power": {"goose-power"}},
			Is:   "a row of MySQL with an owner and the end of its lease, which the library renews every 5 s.",
			Options: "NewMySQLTableLocker with its defaults, and a WithTableLockID for each name. The context of Lock " +
				"is that of the work too, as that of a migration is: the renewals end with it. One that finds the lock lost is " +
				"logged, and its user is not told. Unlock is called once, and tries for a minute.",
			Says: []libraries.Sentence{
				{
					Text:  "It manages a single\n// lock row and keeps the lock alive automatically.",
					Where: "documentation of NewMySQLTableLocker", File: "lock/mysql.go",
					Under: []lock.Fault{"", lock.FaultCrash, lock.FaultRestart, lock.FaultPower, lock.FaultLatency, lock.FaultReset,
						lock.FaultWallClock, lock.FaultNodeCrash},
				},
				{
					Text:  "If the process dies, others can take the lock after lease expires",
					Where: "documentation of NewMySQLTableLocker", File: "lock/mysql.go", Labels: []checker.Label{checker.Stuck},
					Under: []lock.Fault{lock.FaultCrash, lock.FaultPower, lock.FaultRestart},
				},
			},
			Refuses: map[lock.Fault]string{
				lock.FaultNodePower: "a client that waits for the answer of a machine without power is told by TCP's keep-alive, " +
					"after 15 s by default in Go, and the world has none",
			},
			Misuse:   "the context of Unlock has ended when it is called",
			Fence:    "None.",
			Untested: "The migrations, and WithTableRetryPolicy.",
		}},
	})
}

// lease and interval are the defaults of the library.
const (
	lease    = 30 * time.Second
	interval = 5 * time.Second
)

// table is the lock. A process has one locker for each name, as goose has one. Its renewals find a loss.
func table() scenarios.Lock {
	return scenarios.Lock{Name: "goose-mysql", Traits: scenarios.Traits{
		Promise: lock.LeasePromise(), Servers: mysqllocks.With(`CREATE TABLE goose_lock (
			lock_id BIGINT NOT NULL PRIMARY KEY, locked BOOLEAN NOT NULL DEFAULT 0, locked_at DATETIME(6) NULL,
			locked_by TEXT NULL, lease_expires_at DATETIME(6) NULL, updated_at DATETIME(6) NULL)`),
		Lease: scenarios.LeaseHeld, LeaseTTL: lease, Detection: interval + time.Second, Pause: interval,
	}, New: func(e scenarios.Env) (lock.Locker, error) {
		cfg, err := mysql.ParseDSN(mysqllocks.Source)
		if err != nil {
			return nil, err
		}
		cfg.ParseTime, cfg.InterpolateParams = true, false
		db, err := mysqllocks.OpenConfig(e, cfg)
		if err != nil {
			return nil, err
		}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			l, err := gooselock.NewMySQLTableLocker(gooselock.WithTableLockID(id(name)),
				gooselock.WithTableLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
			if err != nil {
				return nil, err
			}
			working, end := context.WithCancel(context.WithoutCancel(ctx))
			stop := context.AfterFunc(ctx, end) // while it asks
			err = l.Lock(working, db)
			if !stop() && err == nil {
				err = ctx.Err()
				_ = l.Unlock(ctx, db)
			}
			if err != nil {
				end()
				return nil, scenarios.Unanswered(err)
			}
			e.OnEnd(end)
			var once sync.Once // "must be called exactly once": another call ends the program
			var unlocked error
			return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(ctx context.Context) error {
				once.Do(func() {
					defer end()
					unlocked = scenarios.Unanswered(l.Unlock(ctx, db))
				})
				return unlocked
			}}), nil
		}), nil
	}}
}

// id is the number of a lock: names differ in what it is made of, as far as the workload draws them.
func id(name string) int64 {
	sum := int64(1)
	for _, c := range []byte(name) {
		sum = sum*131%(1<<31-1) + int64(c)
	}
	return sum
}
