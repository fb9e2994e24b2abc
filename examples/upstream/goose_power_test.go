//go:build unix

package upstream

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"
)

// TestShowsGoosePower shows that a holder which is gone in the middle of a heartbeat, as by a loss of power, keeps
// goose's lock in MySQL from all others for as long as the server takes its connection for alive, and not for the
// lease: a heartbeat is a transaction of several requests that locks the row. A holder that is gone between two
// heartbeats loses the lock after its lease, as the documentation says.
func TestShowsGoosePower(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]bool{"within a heartbeat": true, "between two": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			showGoosePower(t, within)
		})
	}
}

// showGoosePower lets the host of a holder vanish within a heartbeat or between two.
func showGoosePower(t *testing.T, within bool) {
	const lease = 2 * time.Second
	addr := startMariaDB(t)
	admin := openMariaDB(t, addr)
	locker := func() lock.Locker {
		t.Helper()
		l, err := lock.NewMySQLTableLocker(lock.WithTableLeaseDuration(lease), lock.WithTableHeartbeatInterval(lease/4),
			lock.WithTableLockTimeout(lease/4, 1000), lock.WithTableLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}

	// The server has executed the UPDATE of a heartbeat, or a whole heartbeat, and never hears of the first client again.
	var beats, gone atomic.Bool
	never := newGate()
	vanished := func([]byte) *gate {
		if gone.Load() {
			return never
		}
		return nil
	}
	network := startProxy(t, addr, func(b []byte) *gate {
		if gone.Load() {
			return never
		}
		if strings.Contains(string(b), "SELECT lease_expires_at FROM") { // After the UPDATE.
			beats.Store(true)
			gone.Store(within)
			return vanished(b)
		}
		if beats.Load() && strings.Contains(string(b), "COMMIT") {
			gone.Store(true) // This is the last that the server hears.
		}
		return nil
	}, vanished)
	holding, end := context.WithCancel(context.Background())
	defer end()
	if err := locker().Lock(holding, openMariaDB(t, network.addr)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first client is gone", gone.Load)

	// The second client tries for several leases.
	second, db := locker(), openMariaDB(t, addr)
	ctx, cancel := context.WithTimeout(context.Background(), 4*lease)
	defer cancel()
	err := second.Lock(ctx, db)
	switch {
	case !within && err != nil:
		t.Fatalf("the second client after four leases: %v", err)
	case within && err == nil:
		t.Fatal("mended? The second client has the lock while the transaction of the first one is open")
	case within:
		t.Logf("the second client: %v", err)
		all := changing(t, admin)
		if len(all) != 1 {
			t.Fatalf("mended? The transactions of connections %v are open after four leases", all)
		}
		// As soon as the server ends the connection, the lock can be had.
		if _, err := admin.Exec(fmt.Sprintf("KILL %d", all[0])); err != nil {
			t.Fatal(err)
		}
		if err := second.Lock(context.Background(), db); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Unlock(context.Background(), db); err != nil {
		t.Fatal(err)
	}
	never.open()
}

// changing are the connections whose open transactions have changed a row, and wait for a request.
func changing(t *testing.T, db *sql.DB) (all []int64) {
	t.Helper()
	rows, err := db.Query("SELECT trx_mysql_thread_id FROM information_schema.innodb_trx " +
		"WHERE trx_state = 'RUNNING' AND trx_rows_modified > 0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
