//go:build unix

package upstream

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cirello.io/pglock"
	_ "github.com/lib/pq" // The driver.
)

// TestShowsPglockPower shows that a client of pglock which is gone in the middle of a try, as by a loss of power, keeps
// the lock from all others for as long as the server takes its connection for alive, and not for the lease: each try is
// a transaction of several requests that locks the row. No client has the lock meanwhile.
func TestShowsPglockPower(t *testing.T) {
	t.Parallel()
	const name, lease = "order", 500 * time.Millisecond
	addr := startPostgres(t)
	admin := openPostgres(t, addr)
	locks := func(addr string) *pglock.Client {
		t.Helper()
		c, err := pglock.New(openPostgres(t, addr), pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(lease/4))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	second := locks(addr)
	if err := second.CreateTable(); err != nil {
		t.Fatal(err)
	}

	// The server answers the INSERT of the first client, and never hears of it again.
	var gone atomic.Bool
	never := newGate()
	network := startProxy(t, addr, func(b []byte) *gate {
		if gone.Load() {
			return never
		}
		return nil
	}, func(b []byte) *gate {
		if strings.Contains(string(b), "INSERT 0 1") { // The tag of the command, in the answer.
			gone.Store(true)
			return never
		}
		return nil
	})
	firstEnded := make(chan struct{})
	go func() {
		defer close(firstEnded)
		_, _ = locks(network.addr).Acquire(name)
	}()
	waitFor(t, "the server waits for more of the transaction of the first client",
		func() bool { return idle(t, admin) == 1 })

	// The second client tries for several leases.
	ctx, cancel := context.WithTimeout(context.Background(), 4*lease)
	defer cancel()
	for ctx.Err() == nil {
		_, err := second.AcquireContext(ctx, name)
		if err == nil {
			t.Fatal("mended? The second client has the lock while the transaction of the first one is open")
		}
		t.Logf("the second client: %v", err)
	}
	if n := idle(t, admin); n != 1 {
		t.Fatalf("mended? %d transactions are open after four leases", n)
	}

	// As soon as the server ends the connection, the lock can be had.
	if _, err := admin.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in " +
		"transaction'"); err != nil {
		t.Fatal(err)
	}
	l, err := second.Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	never.open()
	wait(t, "the first client has given up", firstEnded)
}

// idle is how many transactions of other connections wait for a request.
func idle(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in " +
		"transaction'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// openPostgres are connections to a server. They are closed at the end of the test.
func openPostgres(t *testing.T, addr string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", postgresSource(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
