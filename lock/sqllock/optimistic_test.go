package sqllock_test

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"testing"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
	"locksim/lock/sqllock"
	"locksim/sim"
	"locksim/sim/postgres"
)

// stock makes a table with a number.
var stock = []string{
	`CREATE TABLE stock (id text PRIMARY KEY, amount int NOT NULL, fence_version bigint NOT NULL DEFAULT 0)`,
	`INSERT INTO stock VALUES ('apple', 0)`,
}

// Optimistic changes lose nothing that they have confirmed, and make nothing twice, when a client is paused between its
// read and its write, connections break, and the server crashes.
func TestOptimisticInTheWorld(t *testing.T) {
	server := simulated(t)
	amount := func(_, _ string) string { return `SELECT amount FROM stock` }
	const clients, each = 4, 8
	for seed := uint64(1); seed <= 10; seed++ {
		cfg := sim.Config{Seed: seed, Servers: []sim.Kind{postgres.Kind{Server: server, Schema: stock, Value: amount}},
			Clients: clients, Untraced: true}
		var made [clients]changes
		left := ""
		_, err := sim.Run(cfg, func(w *sim.World) error {
			strike(t, w)
			for i := range clients {
				p := w.Client(i)
				p.Go(func() { made[i] = change(t, p, each) })
			}
			err := w.RunUntil(w.Idle)
			for _, n := range w.Nodes() {
				if v, ok := n.Server().(interface {
					Value(resource, register string) string
				}); ok && n.Name() == postgres.Name {
					left = v.Value("", "")
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var sum changes
		for _, m := range made {
			sum.confirmed, sum.unknown, sum.failed, sum.conflicts = sum.confirmed+m.confirmed, sum.unknown+m.unknown,
				sum.failed+m.failed, sum.conflicts+m.conflicts
		}
		if n := atoi(t, left); n < sum.confirmed || n > sum.confirmed+sum.unknown {
			t.Errorf("seed %d: the amount is %d after %+v", seed, n, sum)
		}
		if sum.conflicts == 0 || sum.unknown+sum.failed == 0 {
			t.Errorf("seed %d: %+v: no conflict, or no fault was felt", seed, sum)
		}
	}
}

// A change that always meets another one is given up after as many tries as the options say, and writes nothing.
func TestOptimisticGivesUp(t *testing.T) {
	server := simulated(t)
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{postgres.Kind{Server: server, Schema: stock}}, Clients: 1,
		Untraced: true}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			db := inWorld(t, p, nil)
			o, err := sqllock.NewOptimistic(db, sqlguard.Options{Table: "stock"}, sqllock.Options{Tries: 3,
				Clock: p.Clock(), Jitter: p.Source("lock")})
			if err != nil {
				t.Error(err)
				return
			}
			var amount, computed int
			conflicts, err := o.Change(p.Context(), "apple", []sqlguard.Column{{Name: "amount", Value: &amount}},
				func() ([]sqlguard.Column, error) {
					computed++
					_, err := db.ExecContext(p.Context(), `UPDATE stock SET amount = 7, fence_version = fence_version + 1`)
					return []sqlguard.Column{{Name: "amount", Value: 100}}, err
				})
			if !errors.Is(err, fence.ErrStale) || conflicts != 3 || computed != 3 {
				t.Errorf("%d conflicts, computed %d times, error %v", conflicts, computed, err)
			}
			if err := db.QueryRowContext(p.Context(), `SELECT amount FROM stock`).Scan(&amount); err != nil || amount != 7 {
				t.Errorf("the amount is %d, error %v", amount, err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqllock.NewOptimistic(&sql.DB{}, sqlguard.Options{Table: "stock"},
		sqllock.Options{Tries: -1}); err == nil {
		t.Error("a negative number of tries was taken")
	}
}

// changes are what became of the changes of a client.
type changes struct{ confirmed, unknown, failed, conflicts int }

// strike applies the faults of a run.
func strike(t *testing.T, w *sim.World) {
	for at, f := range map[time.Duration]func() error{
		1500 * time.Millisecond: func() error { return w.Faults().Pause("c0", 20*time.Second) },
		2100 * time.Millisecond: func() error { return w.Faults().Reset("c1", postgres.Name) },
		3 * time.Second:         func() error { return w.Faults().Crash(postgres.Name, faults.CrashProcess) },
		4 * time.Second:         func() error { return w.Faults().Restart(postgres.Name) },
	} {
		w.At(at, func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}
}

// change makes changes, and takes some time for each.
func change(t *testing.T, p *sim.Process, n int) (made changes) {
	o, err := sqllock.NewOptimistic(inWorld(t, p, nil), sqlguard.Options{Table: "stock"}, sqllock.Options{
		Backoff: lock.Backoff{Min: 10 * time.Millisecond, Max: 100 * time.Millisecond}, Clock: p.Clock(),
		Jitter: p.Source("lock")})
	if err != nil {
		t.Error(err)
		return made
	}
	for range n {
		var amount int
		ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
		conflicts, err := o.Change(ctx, "apple", []sqlguard.Column{{Name: "amount", Value: &amount}},
			func() ([]sqlguard.Column, error) {
				time.Sleep(200 * time.Millisecond)
				return []sqlguard.Column{{Name: "amount", Value: amount + 1}}, nil
			})
		cancel()
		made.conflicts += conflicts
		switch {
		case err == nil:
			made.confirmed++
		case errors.Is(err, sqlguard.ErrOutcomeUnknown):
			made.unknown++
		default:
			made.failed++
			time.Sleep(300 * time.Millisecond)
		}
	}
	return made
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
