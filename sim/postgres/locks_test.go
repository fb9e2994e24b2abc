//go:build linux

package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/postgres"
)

// The world knows who has a lock of a session: when it is taken, given up, handed to the one that waits, and lost with
// its session. Behind a pooling proxy a session that has a lock gets it again for any client: from then on it is of
// none alone.
func TestLocksOfSessions(t *testing.T) {
	const (
		take, give = "SELECT pg_advisory_lock(7)", "SELECT pg_advisory_unlock(7)"
		update     = "SELECT 1 FROM places WHERE id = 'x' FOR UPDATE"
	)
	advisory := func(p *sim.Process, db *sql.DB) error {
		ctx := context.Background()
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, take); err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		if p.Name() == "c0" {
			_, err = conn.ExecContext(ctx, give)
			return err
		}
		return db.Close()
	}
	row := func(_ *sim.Process, db *sql.DB) error {
		ctx := context.Background()
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, update); err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		return tx.Commit()
	}
	for _, tt := range []struct {
		name, key string
		client    func(*sim.Process, *sql.DB) error
		crash     string
		pooled    bool
		want      []string
	}{
		{"advisory", "advisory lock 7", advisory, "", false, []string{
			"0s c0 set by c0: " + take + ", no key", "2s c0 deleted by c0: " + give + ", as long as its session",
			"2s c1 set by c1: " + take + ", no key",
		}},
		{"row", "row lock places/x", row, "", false, []string{
			"0s c0 set by c0: " + update + ", no key", "2s c0 deleted by c0: commit, as long as its session",
			"2s c1 set by c1: " + update + ", no key", "4s c1 deleted by c1: commit, as long as its session",
		}},
		{"a client crashes", "row lock places/x", row, "c0", false, []string{
			"0s c0 set by c0: " + update + ", no key", "1s c0 deleted by c0: , as long as its session, with it",
			"1s c1 set by c1: " + update + ", no key", "3s c1 deleted by c1: commit, as long as its session",
		}},
		{"the server crashes", "advisory lock 7", advisory, "p0", false, []string{
			"0s c0 set by c0: " + take + ", no key", "1s  expired by : , as long as its session, with it",
		}},
		{"a pooling proxy", "advisory lock 7", advisory, "", true, []string{
			"0s c0 set by c0: " + take + ", no key", "0s  set by c1: " + take + ", as long as its session",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kind := postgres.Kind{Server: server(t), Schema: []string{`CREATE TABLE places (id text PRIMARY KEY)`,
				`INSERT INTO places VALUES ('x')`}, Pooled: tt.pooled}
			database := open
			if tt.pooled {
				database = simple
			}
			var got []string
			_, err := sim.Run(sim.Config{Servers: []sim.Kind{kind}, Clients: 2, Seed: 1}, func(w *sim.World) error {
				w.WatchKeys(tt.key)
				for i := range 2 {
					p := w.Client(i)
					p.Go(func() {
						time.Sleep(time.Duration(i) * 10 * time.Millisecond)
						_ = tt.client(p, database(t, p)) // one whose server crashes has an error
					})
				}
				if tt.crash != "" {
					w.At(time.Second, func() {
						if err := w.Faults().Crash(tt.crash, faults.CrashProcess); err != nil {
							t.Error(err)
						}
					})
				}
				err := w.RunUntil(w.Idle)
				for _, c := range w.KeyChanges() {
					line := fmt.Sprintf("%v %s %s by %s: %s, %v", c.At.Round(500*time.Millisecond), c.By, c.Change, c.Asked, c.Request,
						c.Left)
					if c.Session {
						line += ", with it"
					}
					got = append(got, line)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
