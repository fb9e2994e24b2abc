// Command pglock has the lock of cirello.io/pglock, over the driver that locksim's databases have.
package main

import (
	"context"
	"time"

	"cirello.io/pglock"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

// table is apart from those of locksim.
const table = "pglocks"

func main() {
	libraries.Main(libraries.Library{
		Name: "pglock", Module: "cirello.io/pglock", Source: "https://github.com/cirello-io/pglock",
		Findings: []libraries.Finding{
			{
				ID:     "pglock-power",
				Status: libraries.NotKnown,
				Where:  "client.go:231, 239",
				What: "Each try is a transaction of several requests. A client that vanishes within one keeps its row locked, " +
					"and no other client gets the lock until the server notices.",
				Draft: "pglock-power.md",
			},
		},
		Locks: []libraries.Lock{{
			Runs: 30, // with leases of 20 s and a real server in the world, a run takes a second
			Lock: renewed(),
			Why:  map[string][]string{"power": {"pglock-power"}},
			Is: "a row of PostgreSQL with a number that its holder raises: others take it when they have seen the same " +
				"number for a lease.",
			Options: "A lease of 20 s, which is the default, and WithHeartbeatFrequency(0): its user sends the heartbeats.",
			Says: []libraries.Sentence{
				{
					Text: "[…] even if two different machines disagree about what time it is, they will still avoid clobbering " +
						"each other's locks.",
					Where: "README, Logic to avoid problems with clock skew", File: "README.md",
				},
				{
					Text: "When the leader fails, it will fail over to another host within a customizable lease duration that " +
						"you set.",
					Where: "README, Use cases", File: "README.md", Labels: []checker.Label{checker.Stuck},
					Under: []lock.Fault{lock.FaultCrash, lock.FaultPower, lock.FaultRestart},
				},
			},
			Misuse:   "the context of ReleaseContext has ended when it is called, or it is called again after it has failed",
			Fence:    "RecordVersionNumber: it grows with each grant and each heartbeat.",
			Untested: "Its own heartbeats, and Do: they run on a context of the library.",
		}},
	})
}

// renewed is the lock without the heartbeats of the library: its user sends them, as its documentation has it.
func renewed() scenarios.Lock {
	const ttl = 20 * time.Second // the default
	return scenarios.Lock{Name: "pglock", Traits: scenarios.Traits{Promise: glue.InTable(), Servers: sqllocks.With(
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
					return scenarios.NotHeld(locks.ReleaseContext(ctx, l), pglock.ErrLockAlreadyReleased)
				},
				Extend: func(ctx context.Context) error {
					return scenarios.NotHeld(locks.SendHeartbeat(ctx, l), pglock.ErrLockAlreadyReleased)
				},
			}), nil
		}), nil
	}}
}
