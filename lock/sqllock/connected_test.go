package sqllock_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/lock/sqllock"
	"locksim/sim"
	"locksim/sim/postgres"
)

// between is a world for a lock that a connection has, of each kind. Each client runs its part, with the lock, and may
// stop the program of the lock.
func between(t *testing.T, o sqllock.Options, clients int, part func(w *sim.World, i int, p *sim.Process, l lock.Locker,
	stop func())) {
	server := simulated(t)
	for _, k := range kinds() {
		if k.isTable() {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			schema := []string{`CREATE TABLE locks (resource text PRIMARY KEY)`}
			cfg := sim.Config{Seed: 1, Servers: []sim.Kind{postgres.Kind{Server: server, Schema: schema}}, Clients: clients,
				Untraced: true}
			_, err := sim.Run(cfg, func(w *sim.World) error {
				for i := range clients {
					p := w.Client(i)
					p.Go(func() {
						o := o
						program, stop := context.WithCancel(p.Context())
						defer stop()
						o.Context = program
						o.Clock, o.Jitter, o.Entropy = p.Clock(), p.Source("lock"), p.Entropy("lock")
						l, err := k.new(inWorld(t, p, nil), o)
						if err != nil {
							t.Error(err)
							return
						}
						part(w, i, p, l, stop)
					})
				}
				return w.RunUntil(w.Idle)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// take acquires the lock.
func take(t *testing.T, p *sim.Process, l lock.Locker) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(p.Context(), "order")
	if err != nil {
		t.Errorf("%s: %v", p.Name(), err)
	}
	return lease
}

// release releases a lease.
func release(t *testing.T, p *sim.Process, l lock.Lease) {
	t.Helper()
	if err := l.Release(p.Context()); err != nil {
		t.Errorf("%s: %v", p.Name(), err)
	}
}

// A machine that loses its power while it waits in the database keeps the lock from others for two TTLs at most: the
// database does not notice before it has granted it the lock, or has ended the wait.
func TestDeadWaiter(t *testing.T) {
	const ttl, holds = 4 * time.Second, time.Minute
	between(t, sqllock.Options{TTL: ttl, Block: true}, 3, func(w *sim.World, i int, p *sim.Process, l lock.Locker,
		_ func()) {
		time.Sleep(time.Duration(i) * time.Second)
		switch i {
		case 0:
			w.At(holds-time.Second, func() { // c1 waits, and c2 after it
				if err := w.Faults().Crash("c1", faults.CrashPower); err != nil {
					t.Error(err)
				}
			})
			lease := take(t, p, l)
			time.Sleep(holds)
			release(t, p, lease)
		case 1:
			_, _ = l.Acquire(p.Context(), "order")
		case 2:
			began := p.Clock().Now()
			lease := take(t, p, l)
			if d := p.Clock().Now().Sub(began) + 2*time.Second; lease == nil || d < holds || d > holds+2*ttl+time.Second {
				t.Errorf("the lock is granted after %v", d)
				return
			}
			release(t, p, lease)
		}
	})
}

// That is so as well where another waits before it: PostgreSQL lets it wait for each of them in turn.
func TestDeadWaiterBehindAnother(t *testing.T) {
	const ttl, hold, dies = 4 * time.Second, 3 * time.Second, time.Second
	between(t, sqllock.Options{TTL: ttl, Block: true}, 3, func(w *sim.World, i int, p *sim.Process, l lock.Locker,
		_ func()) {
		time.Sleep(time.Duration(i) * 10 * time.Millisecond)
		if i == 2 {
			w.At(dies, func() {
				if err := w.Faults().Crash("c2", faults.CrashPower); err != nil {
					t.Error(err)
				}
			})
			_, _ = l.Acquire(p.Context(), "order")
			return
		}
		for range 2 {
			lease := take(t, p, l)
			if d := w.Now(); i == 0 && d > dies+2*ttl {
				t.Errorf("the lock is granted at %v", d)
			}
			time.Sleep(hold)
			release(t, p, lease)
		}
	})
}

// A waiter does not wait for ever for a database that has lost its power, and with it the connection.
func TestWaiterOfASilentDatabase(t *testing.T) {
	const ttl = 4 * time.Second
	between(t, sqllock.Options{TTL: ttl, Block: true}, 2, func(w *sim.World, i int, p *sim.Process, l lock.Locker,
		_ func()) {
		if i == 0 {
			take(t, p, l)
			w.At(2*time.Second, func() {
				if err := w.Faults().Crash(postgres.Name, faults.CrashPower); err != nil {
					t.Error(err)
				}
			})
			w.At(3*time.Second, func() {
				if err := w.Faults().Restart(postgres.Name); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(4 * ttl)
			return
		}
		time.Sleep(time.Second)
		began := p.Clock().Now()
		_, err := l.Acquire(p.Context(), "order")
		if d := p.Clock().Now().Sub(began); !errors.Is(err, lock.ErrOutcomeUnknown) || d > 2*ttl+time.Second {
			t.Errorf("after %v: %v", d, err)
			return
		}
		release(t, p, take(t, p, l))
	})
}

// The end of Options.Context ends the lease with its connection, and the lock is free at once.
func TestEndOfTheProgram(t *testing.T) {
	between(t, sqllock.Options{TTL: time.Minute, Block: true}, 1, func(_ *sim.World, _ int, p *sim.Process, l lock.Locker,
		stop func()) {
		lease := take(t, p, l)
		if lease == nil {
			return
		}
		stop()
		time.Sleep(time.Second)
		if err := lease.Release(p.Context()); err == nil {
			t.Error("the release of a lease whose connection has ended succeeds")
		}
	})
}

// A call does not wait for work in the transaction, or for a statement that is not answered, for longer than its
// context.
func TestCallsDoNotWaitForWork(t *testing.T) {
	between(t, sqllock.Options{TTL: time.Minute}, 1, func(_ *sim.World, _ int, p *sim.Process, l lock.Locker, _ func()) {
		lease, ok := take(t, p, l).(*sqllock.Lease)
		if !ok {
			return
		}
		worked := make(chan error)
		go func() {
			worked <- lease.Do(func(*sql.Tx) error {
				time.Sleep(10 * time.Second)
				return nil
			})
		}()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(p.Context(), time.Second)
		defer cancel()
		began := p.Clock().Now()
		err := lease.Extend(ctx)
		unsupported := false
		select {
		case failure := <-worked:
			unsupported = errors.Is(failure, errors.ErrUnsupported)
		default:
		}
		if d := p.Clock().Now().Sub(began); !unsupported && (err == nil || d > 1100*time.Millisecond) {
			t.Errorf("an extension during work ended after %v with %v", d, err)
		}
		if lease.Until().IsZero() || lease.Context().Err() != nil {
			t.Error("the lease has ended")
		}
		if !unsupported {
			if err := <-worked; err != nil {
				t.Error(err)
			}
		}
		release(t, p, lease)
	})
}

// The outcome of a release that was given up is unknown, always. Here it waits for the answer of a heartbeat: its
// commit then comes after the end of its context, and database/sql says of that or of the transaction that it has
// ended, by chance.
func TestReleaseGivenUp(t *testing.T) {
	for range 5 {
		between(t, sqllock.Options{TTL: 6 * time.Second, ReleaseTimeout: time.Second}, 1,
			func(w *sim.World, _ int, p *sim.Process, l lock.Locker, _ func()) {
				lease := take(t, p, l)
				if lease == nil {
					return
				}
				w.At(w.Now()+time.Second, func() {
					if err := w.Faults().Stall(postgres.Name, 10*time.Second); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(2500 * time.Millisecond)
				if err := lease.Release(p.Context()); !errors.Is(err, lock.ErrOutcomeUnknown) {
					t.Errorf("the release of a database that does not answer ends with %v", err)
				}
			})
	}
}

// The wait of a client ends while its process is paused. Package database/sql would roll the transaction back with a
// mutex that its statement has, and virtual time would stand still (seed 137 of explore --lock sql-for-update
// --promise).
func TestWaitEndsInAPause(t *testing.T) {
	between(t, sqllock.Options{TTL: 4 * time.Second, Block: true}, 2, func(w *sim.World, i int, p *sim.Process,
		l lock.Locker, _ func()) {
		if i == 0 {
			lease := take(t, p, l)
			time.Sleep(10 * time.Second)
			release(t, p, lease)
			return
		}
		time.Sleep(time.Second)
		w.At(2*time.Second, func() {
			if err := w.Faults().Pause(p.Name(), 5*time.Second); err != nil {
				t.Error(err)
			}
		})
		ctx, cancel := context.WithTimeout(p.Context(), 3*time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx, "order"); !errors.Is(err, context.DeadlineExceeded) || w.Now() < 7*time.Second {
			t.Errorf("at %v: %v", w.Now(), err)
		}
		release(t, p, take(t, p, l))
	})
}
