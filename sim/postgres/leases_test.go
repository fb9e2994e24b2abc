//go:build linux

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/postgres"
	"locksim/sim/trace"
)

// The world knows what becomes of leases in rows: when a transaction has set, prolonged, overwritten or deleted one,
// whose statement that was, and the time that the lease had left by the clock of the server. Equal seeds give equal
// records.
func TestLeasesInRows(t *testing.T) {
	const lease = `INSERT INTO leases VALUES ('x', $1, clock_timestamp() + $2::bigint * interval '1 second')
		ON CONFLICT (name) DO UPDATE SET who = excluded.who, ends = excluded.ends`
	type step func(db *sql.DB, ctx context.Context) error
	statement := func(s string, args ...any) step {
		return func(db *sql.DB, ctx context.Context) error { _, err := db.ExecContext(ctx, s, args...); return err }
	}
	undone := errors.New("undone")
	transaction := func(end error, s string, args ...any) step {
		return func(db *sql.DB, ctx context.Context) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, s, args...); err != nil {
				return err
			}
			time.Sleep(time.Second)
			if end != nil {
				return tx.Rollback()
			}
			return tx.Commit()
		}
	}
	for _, tt := range []struct {
		name  string
		steps []step // of c0 and c1 in turns, 2 s apart
		want  []string
	}{
		{"set, prolonged, overwritten and deleted", []step{
			statement(lease, "a", 9), statement(lease, "a", 9), statement(lease, "b", 9), statement(`DELETE FROM leases`),
		}, []string{
			"a set by c0, over false:  of , no key", "a prolonged by c1, over false: a of c0, 7s",
			"b set by c0, over true: a of c0, 7s", " deleted by c1, over false: b of c0, 7s",
		}},
		{"ended by its owner, and changed in no way", []step{
			statement(lease, "a", 9), statement(`SELECT * FROM leases`), statement(`UPDATE leases SET who = who`),
			statement(`UPDATE leases SET who = '', ends = '-infinity'`), statement(lease, "b", 9),
		}, []string{"a set by c0, over false:  of , no key", " deleted by c1, over false: a of c0, 3s",
			"b set by c0, over false:  of , no key"}},
		{"over, and without an end", []step{
			statement(lease, "a", 1),
			statement(`INSERT INTO leases VALUES ('x', 'b', 'infinity') ON CONFLICT (name) DO UPDATE SET who = 'b', ends = 'infinity'`),
			statement(lease, "b", 9),
		}, []string{
			"a set by c0, over false:  of , no key", "b set by c1, over true: a of c0, -1s",
			"b prolonged by c0, over false: b of c1, no end",
		}},
		{"in transactions", []step{transaction(nil, lease, "a", 9), transaction(undone, lease, "b", 9),
			statement(`DELETE FROM leases`)}, []string{
			"a set by c0, over false:  of , no key", " deleted by c0, over false: a of c0, 3s",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play := func() (got, full []string, hash string) {
				kind := postgres.Kind{Server: server(t),
					Schema: []string{`CREATE TABLE leases (name text PRIMARY KEY, who text NOT NULL, ends timestamptz NOT NULL)`},
					Leases: []postgres.LeaseTable{{Table: "leases", Key: "name", Owner: "who", Until: "ends"}}}
				res, err := sim.Run(sim.Config{Servers: []sim.Kind{kind}, Clients: 2, Seed: 1}, func(w *sim.World) error {
					w.Client(0).Go(func() {
						dbs := []*sql.DB{open(t, w.Client(0)), open(t, w.Client(1))}
						for i, s := range tt.steps {
							if err := s(dbs[i%2], context.Background()); err != nil {
								t.Error(err)
							}
							time.Sleep(2 * time.Second)
						}
					})
					w.At(time.Second, func() { // the server's clock counts
						if err := w.Faults().JumpClock("p0", -time.Hour); err != nil {
							t.Error(err)
						}
						if err := w.Faults().JumpClock("p0", time.Hour); err != nil {
							t.Error(err)
						}
					})
					err := w.RunUntil(w.Idle)
					for _, k := range w.KeyChanges() {
						full = append(full, fmt.Sprintf("%+v", k))
						event := w.Trace().Events[k.Step-1]
						if x, ok := event.What.(trace.Exec); !ok || event.Peer != k.By || k.By != k.Asked ||
							k.Request != trace.KindOf(x.Request) || k.Key != "lease row leases/x" {
							t.Errorf("%+v: its step is %s", k, event.String())
						}
						k.Left.Time = k.Left.Time.Round(time.Second)
						got = append(got, fmt.Sprintf("%s %s by %s, over %v: %s of %s, %v", k.Value, k.Change, k.By, k.Over, k.Was,
							k.WasOf, k.Left))
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return got, full, fmt.Sprint(res.Trace.Hash())
			}
			got, first, hash := play()
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if _, again, same := play(); !slices.Equal(first, again) || hash != same {
				t.Errorf("an equal seed gives another record: %q and %q", first, again)
			}
		})
	}
}

// A statement that waits for the row is carried out when the transaction before it ends, and both are told, each by its
// client.
func TestLeasesOfStatementsThatWait(t *testing.T) {
	kind := postgres.Kind{Server: server(t), Schema: []string{
		`CREATE TABLE leases (name text PRIMARY KEY, who text NOT NULL, ends timestamptz NOT NULL)`,
		`INSERT INTO leases VALUES ('x', 'z', '2100-01-01')`,
	}, Leases: []postgres.LeaseTable{{Table: "leases", Key: "name", Owner: "who", Until: "ends"}}}
	var got []string
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{kind}, Clients: 3, Seed: 1}, func(w *sim.World) error {
		for i := range 3 {
			p := w.Client(i)
			p.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				if i == 0 { // the lease stays as it was
					if _, err := open(t, p).ExecContext(context.Background(), `UPDATE leases SET who = who`); err != nil {
						t.Error(err)
					}
				}
				ctx, db := context.Background(), open(t, p)
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = tx.ExecContext(ctx, `UPDATE leases SET who = $1`, p.Name()) // one of a client that ends has an error
				time.Sleep(time.Second)
				_ = tx.Commit()
			})
		}
		w.At(1500*time.Millisecond, func() {
			if err := w.Faults().Crash("c1", faults.CrashProcess); err != nil { // nothing of it is committed
				t.Error(err)
			}
		})
		err := w.RunUntil(w.Idle)
		for _, k := range w.KeyChanges() {
			got = append(got, fmt.Sprintf("%v %s %s by %s, over %s of %s: %v", k.At.Round(500*time.Millisecond), k.Value,
				k.Change, k.By, k.Was, k.WasOf, k.Over))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"1s c0 set by c0, over z of : true", "2.5s c2 set by c2, over c0 of c0: true"}; !slices.Equal(got,
		want) {
		t.Errorf("%q, want %q", got, want)
	}
}
