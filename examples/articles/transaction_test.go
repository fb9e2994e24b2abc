package articles

import (
	"context"
	"database/sql"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

// reset breaks the connections of a client that has read, and stops it: the server ends its transaction, and others
// have the row before it writes.
const reset = `name: reset
world: {postgres: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s}
workload: {rounds: 2, hold: 2s, data: transaction}
faults:
  - when: {client: c0, event: read, nth: 1}
    reset: {between: [c0], and: [p0]}
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 9s}
`

// A18 is right since the data is in the transaction that has the row: with the same row, and the data in
// transactions of their own, an update is lost. In both the client that was stopped believes for a while that it
// has the row.
func TestTransaction(t *testing.T) {
	l := recipe(t, "A18")
	if err := l.Missing(); err != nil {
		t.Skip(err)
	}
	for want, l := range map[checker.Label]scenarios.Lock{checker.Overlap: l, checker.Corrupted: apart(l)} {
		sc, err := scenarios.Parse("reset.yaml", []byte(reset), l)
		if err != nil {
			t.Fatal(err)
		}
		o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if m := o.Modes[0]; m.Verdict.Label != want || !m.FaultsFelt[0] || m.Verdict.Facts.Operations < 7 {
			t.Errorf("%s, felt %v, %d operations; want %s", m.Verdict.Label, m.FaultsFelt[0], m.Verdict.Facts.Operations, want)
		}
	}
}

// A client that gives up a statement of the transaction that has its lock ends the connection: that the release then
// fails is no failure of the lock.
func TestGivenUpInATransaction(t *testing.T) {
	l := recipe(t, "A18")
	if err := l.Missing(); err != nil {
		t.Skip(err)
	}
	sc, err := scenarios.Parse("given-up.yaml", []byte(`name: given-up
world: {postgres: 1, clients: 1, latency: 1ms}
lock: {ttl: 10s}
workload: {rounds: 1, hold: 0s, timeout: 1ms, data: transaction}
`), l)
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 3000967, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	run := o.Modes[0]
	if !slices.ContainsFunc(run.History.Calls, func(c checker.Call) bool {
		return c.What == "Release" &&
			c.Result == checker.ResultFailed
	}) {
		t.Error("no release failed: nothing was tested")
	}
	if n := run.Verdict.Facts.FailedCalls; n > 0 {
		t.Errorf("%d calls count as failed although nothing was wrong: %v", n, run.Verdict.Reasons)
	}
}

// apart is A18 with the data in transactions of their own.
func apart(l scenarios.Lock) scenarios.Lock {
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		db, err := sqllocks.Open(e)
		if err != nil {
			return nil, err
		}
		db.SetMaxIdleConns(0) // it dials anew for each transaction, so that the reset does not warn it
		inner, err := sqlForUpdate(e)
		if err != nil {
			return nil, err
		}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			held, err := inner.Acquire(ctx, name)
			if err != nil {
				return nil, err
			}
			return outside{held, db}, nil
		}), nil
	}
	l.Data = sqllocks.Data(func(l lock.Lease, do func(tx *sql.Tx) error) error {
		tx, err := l.(outside).db.Begin()
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			_ = tx.Rollback()
			return err
		}
		return tx.Commit()
	})
	return l
}

// outside is a lease whose holder works on other connections.
type outside struct {
	lock.Lease
	db *sql.DB
}

func recipe(t *testing.T, id string) scenarios.Lock {
	t.Helper()
	for _, r := range Recipes() {
		if r.ID == id {
			return r.Lock
		}
	}
	t.Fatalf("there is no recipe %s", id)
	return scenarios.Lock{}
}
