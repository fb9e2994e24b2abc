//go:build linux

package pgserver_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"testing"
	"time"

	"locksim/internal/pgserver"
)

// withClock is a server with a clock of its own, which stands at a time, and a connection to it.
func withClock(t *testing.T, at time.Time) (*pgserver.Server, func() *sql.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := pgserver.Start(ctx, pgserver.Options{Clock: true})
	skip(t, err)
	if err := s.SetTime(at); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", s.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s, func() *sql.Conn {
		t.Helper()
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// run runs statements on a connection.
func run(t *testing.T, c *sql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// pid is the process of a connection.
func pid(t *testing.T, c *sql.Conn) (pid int) {
	t.Helper()
	if err := c.QueryRowContext(t.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// waitForTimer waits until a process has set a timer.
func waitForTimer(t *testing.T, s *pgserver.Server, pid int) pgserver.Timer {
	t.Helper()
	for t.Context().Err() == nil {
		all, err := s.Timers()
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(all, func(x pgserver.Timer) bool { return x.PID == pid }); i >= 0 {
			return all[i]
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no timer")
	return pgserver.Timer{}
}

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

// The wall clock of the server is the one that was set, and stands still.
func TestClock(t *testing.T) {
	s, connect := withClock(t, noon)
	c := connect()
	for _, at := range []time.Time{noon, noon.Add(1500 * time.Microsecond), noon.Add(-time.Hour)} {
		if err := s.SetTime(at); err != nil {
			t.Fatal(err)
		}
		for _, clock := range []string{"now()", "clock_timestamp()"} {
			var got time.Time
			if err := c.QueryRowContext(t.Context(), `SELECT `+clock).Scan(&got); err != nil || !got.Equal(at) {
				t.Errorf("%s is %v, %v; want %v", clock, got, err, at)
			}
		}
	}
}

// A time limit of the server is over when its clock says so and the timer is fired, and not before.
func TestTimeLimits(t *testing.T) {
	s, connect := withClock(t, noon)
	holder, waiter := connect(), connect()
	run(t, holder, `CREATE TABLE locks (resource text PRIMARY KEY)`, `INSERT INTO locks VALUES ('order:42')`)
	for _, c := range []struct{ limit, state string }{
		{"lock_timeout", "55P03"}, {"statement_timeout", "57014"},
	} {
		t.Run(c.limit, func(t *testing.T) {
			if err := s.SetTime(noon); err != nil {
				t.Fatal(err)
			}
			run(t, holder, `BEGIN`, `SELECT FROM locks FOR UPDATE`)
			run(t, waiter, `SET deadlock_timeout = '1h'`, `SET `+c.limit+` = '10s'`)
			waits := pid(t, waiter)
			result := make(chan error, 1)
			go func() {
				_, err := waiter.ExecContext(t.Context(), `SELECT FROM locks FOR UPDATE`)
				result <- err
			}()
			if due := waitForTimer(t, s, waits).Due; !due.Equal(noon.Add(10 * time.Second)) {
				t.Errorf("the timer is due at %v, want 10s after %v", due, noon)
			}
			for _, after := range []time.Duration{0, 9999 * time.Millisecond} { // too early
				fire(t, s, waits, after)
				select {
				case err := <-result:
					t.Fatalf("%v after the start the statement ended: %v", after, err)
				case <-time.After(20 * time.Millisecond):
				}
			}
			fire(t, s, waits, 10*time.Second)
			var state interface{ SQLState() string }
			if err := <-result; !errors.As(err, &state) || state.SQLState() != c.state {
				t.Errorf("the statement ended with %v, want %s", err, c.state)
			}
			run(t, holder, `ROLLBACK`)
			run(t, waiter, `RESET `+c.limit)
		})
	}
	t.Run("idle_in_transaction_session_timeout", func(t *testing.T) {
		run(t, holder, `SET idle_in_transaction_session_timeout = '10s'`)
		process := pid(t, holder)
		if err := s.SetTime(noon); err != nil {
			t.Fatal(err)
		}
		run(t, holder, `BEGIN`)
		waitForTimer(t, s, process)
		fire(t, s, process, 9*time.Second)
		time.Sleep(20 * time.Millisecond)
		run(t, holder, `SELECT 1`) // the limit counts from here on
		fire(t, s, process, 18*time.Second)
		time.Sleep(20 * time.Millisecond)
		run(t, holder, `SELECT 1`)
		fire(t, s, process, 29*time.Second)
		for { // it ends
			var n int
			if err := waiter.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE pid = $1`,
				process).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// A process that has ended has no timer.
func TestTimersOfTheLiving(t *testing.T) {
	s, connect := withClock(t, noon)
	for range 3 {
		c := connect()
		gone := pid(t, c)
		run(t, c, `SET idle_session_timeout = '10s'`)
		waitForTimer(t, s, gone)
		_ = c.Raw(func(any) error { return driver.ErrBadConn }) // the pool closes it
		for {
			all, err := s.Timers()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(all, func(x pgserver.Timer) bool { return x.PID == gone }) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// fire fires the timer of a process some time after noon.
func fire(t *testing.T, s *pgserver.Server, pid int, after time.Duration) {
	t.Helper()
	if err := errors.Join(s.SetTime(noon.Add(after)), s.Fire(waitForTimer(t, s, pid))); err != nil {
		t.Fatal(err)
	}
}
