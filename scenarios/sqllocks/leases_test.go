package sqllocks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/sqllock"
	"locksim/scenarios/sqllocks"
	"locksim/sim"
)

// The world knows what becomes of the rows of the locks on a table: their grants, their renewals, and their end.
func TestRowsAreRecorded(t *testing.T) {
	testruns.NeedsPostgres(t)
	play := func() (got, full []string) {
		_, err := sim.Run(sim.Config{Seed: 1, Clients: 2, Servers: []sim.Kind{sqllocks.Kind().Make(1)}},
			func(w *sim.World) error {
				for i := range 2 {
					p := w.Client(i)
					p.Go(func() {
						db, err := sqllocks.Open(p)
						if err != nil {
							t.Error(err)
							return
						}
						table, err := sqllock.NewTable(db,
							sqllock.Options{TTL: 9 * time.Second, Backoff: lock.Backoff{Min: time.Second, Max: time.Second},
								Clock: p.Clock(), Jitter: p.Source("lock"), Entropy: p.Entropy("lock")})
						if err != nil {
							t.Error(err)
							return
						}
						dog, err := lock.NewWatchdog(table, lock.WatchdogOptions{TTL: 9 * time.Second, Clock: p.Clock()})
						if err != nil {
							t.Error(err)
							return
						}
						_ = p.Clock().Sleep(p.Context(), time.Duration(i)*time.Second)
						held, err := dog.Acquire(p.Context(), "order")
						if err != nil {
							t.Error(err)
							return
						}
						_ = p.Clock().Sleep(p.Context(), 4*time.Second)
						if err := held.Release(p.Context()); i == 1 && err != nil {
							t.Error(err)
						}
					})
				}
				w.At(3500*time.Millisecond, func() { // the lease of c0 ends, and c1 takes the row
					if err := w.Faults().Pause("c0", time.Minute); err != nil {
						t.Error(err)
					}
				})
				err := w.RunUntil(w.Idle)
				for _, k := range w.KeyChanges() {
					full = append(full, fmt.Sprintf("%+v", k))
					k.Left.Time = k.Left.Time.Round(time.Second)
					got = append(got, fmt.Sprintf("%s %s by %s, over one of %q: %v, %v", k.Key, k.Change, k.By, k.WasOf, k.Over,
						k.Left))
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		return got, full
	}
	got, first := play()
	if want := []string{
		`lease row locks/order set by c0, over one of "": false, no key`,
		`lease row locks/order prolonged by c0, over one of "c0": false, 6s`,
		`lease row locks/order set by c1, over one of "c0": true, 0s`,
		`lease row locks/order prolonged by c1, over one of "c1": false, 6s`,
		`lease row locks/order deleted by c1, over one of "c1": false, 8s`,
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, again := play(); !slices.Equal(first, again) {
		t.Errorf("an equal seed gives another record: %q and %q", first, again)
	}
}
