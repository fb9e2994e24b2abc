//go:build linux

package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/sim"
	"locksim/sim/postgres"
	"locksim/sim/trace"
)

// Behind a pooling proxy the clients share a session, and each has it for a transaction: what one sets, the other
// finds, and a statement waits for the end of the other's transaction. A client that goes away in a transaction takes
// the session with it.
func TestPooler(t *testing.T) {
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{postgres.Kind{Server: server(t), Pooled: true}}, Clients: 2,
		Latency: sim.Latency{Min: time.Millisecond, Max: time.Millisecond}}
	r, err := sim.Run(cfg, func(w *sim.World) error {
		for i := range 2 {
			p := w.Client(i)
			say := func(format string, args ...any) {
				p.Observe(trace.Mark{Step: trace.Point, Label: fmt.Sprintf(format, args...)})
			}
			p.Go(func() { pooled(t, p, i, say) })
		}
		w.At(5500*time.Millisecond, func() {
			if err := w.Faults().Reset("c0", postgres.Name); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"506 c1 lock_timeout is 7s",
		"3012 c0 committed",
		"3014 c1 has waited for c0",
		"5503 c1 lock_timeout is 0",
	}
	if d := cmp.Diff(want, said(r.Trace)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// pooled is what the two clients do.
func pooled(t *testing.T, p *sim.Process, i int, say func(string, ...any)) {
	db := simple(t, p)
	ctx := context.Background()
	do := func(q interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}, statement string) {
		if _, err := q.ExecContext(ctx, statement); err != nil {
			say("%s: %v", statement, err)
		}
	}
	begin := func() *sql.Tx {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Error(err)
			return nil
		}
		return tx
	}
	show := func() {
		var value string
		if err := db.QueryRowContext(ctx, "SHOW lock_timeout").Scan(&value); err != nil {
			say("%v", err)
		}
		say("lock_timeout is %s", value)
	}
	if i == 0 {
		do(db, "SET lock_timeout = '7s'")
		time.Sleep(time.Second)
		if tx := begin(); tx != nil {
			time.Sleep(2 * time.Second)
			if err := tx.Commit(); err != nil {
				say("%v", err)
			}
			say("committed")
		}
		time.Sleep(2 * time.Second)
		if tx := begin(); tx != nil {
			time.Sleep(2 * time.Second)
			_ = tx.Rollback() // it fails
		}
		return
	}
	time.Sleep(500 * time.Millisecond)
	show()
	time.Sleep(time.Second)
	do(db, "SELECT 1")
	say("has waited for c0")
	time.Sleep(2300 * time.Millisecond)
	show()
}

// simple is the database for a client whose driver has no prepared statements.
func simple(t testing.TB, m machine) *sql.DB {
	t.Helper()
	db := stdlib.OpenDB(*config(t, m, pgx.QueryExecModeSimpleProtocol))
	m.OnEnd(func() { _ = db.Close() })
	return db
}
