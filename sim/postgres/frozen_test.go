//go:build linux

package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"locksim/sim"
)

// A world that was frozen, while a session of it had a lock and another one waited for that, gives the server to the
// next one.
func TestServerAfterAFrozenWorld(t *testing.T) {
	lock := func(p *sim.Process) error {
		conn, err := open(t, p).Conn(context.Background())
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(context.Background(), "SELECT pg_advisory_lock(7)")
		return err
	}
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{server(t)}, Clients: 2,
		Limits: sim.Limits{Frozen: 300 * time.Millisecond}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		w.Client(0).Go(func() { _ = lock(w.Client(0)) })
		w.Client(1).Go(func() {
			time.Sleep(time.Second)
			_ = lock(w.Client(1)) // it waits for ever
		})
		w.Client(0).Go(func() {
			time.Sleep(2 * time.Second)
			var mu sync.Mutex
			mu.Lock()
			mu.Lock()
		})
		return w.RunUntil(w.Idle)
	})
	if frozen := (*sim.FrozenError)(nil); !errors.As(err, &frozen) {
		t.Fatalf("%v, want a frozen run", err)
	}
	cfg.Limits.Frozen = 0
	var locked error
	_, err = sim.Run(cfg, func(w *sim.World) error {
		w.Client(0).Go(func() { locked = lock(w.Client(0)) })
		return w.RunUntil(w.Idle)
	})
	if err != nil || locked != nil {
		t.Errorf("the next world: %v, %v", err, locked)
	}
}
