package sqllocks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/play"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
)

// A client of pgx that opens its own connections reaches the database of the world.
func TestConfigure(t *testing.T) {
	testruns.NeedsPostgres(t)
	l, asked := sqllocks.Table(), 0
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locks, err := inner(e)
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			cfg, err := pgx.ParseConfig(sqllocks.Source)
			if err != nil {
				return nil, err
			}
			sqllocks.Configure(e, cfg)
			c, err := pgx.ConnectConfig(ctx, cfg)
			if err != nil {
				return nil, err
			}
			one := 0
			if err := errors.Join(c.QueryRow(ctx, "SELECT 1").Scan(&one), c.Close(ctx)); err != nil {
				return nil, err
			}
			asked += one
			return locks.Acquire(ctx, name)
		}), err
	}
	sc := testruns.Parse(t, `name: configured
world: {postgres: 1, clients: 2, latency: 1ms}
lock: {kind: sql-table, ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 1s, think: 0s}
`)
	m := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	if m.Verdict.Label != checker.Safe || asked < 2 {
		t.Errorf("%s, and %d clients have asked", m.Verdict.Label, asked)
	}
}
