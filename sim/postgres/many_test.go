//go:build linux

package postgres_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"locksim/sim"
)

// Connections beyond what the server takes are refused as PostgreSQL refuses them, however many begin at once, and the
// next world begins with none of them.
func TestMoreConnectionsThanTheServerTakes(t *testing.T) {
	many := []int{120}
	if os.Getenv("LOCKSIM_SOAK") != "" {
		many = append(many, 1100)
	}
	for _, n := range many {
		var mu sync.Mutex
		said := map[string]int{}
		_, err := sim.Run(sim.Config{Servers: []sim.Kind{server(t)}}, func(w *sim.World) error {
			p := w.Client(0)
			for range n {
				p.Go(func() {
					c, err := pgx.ConnectConfig(p.Context(), config(t, p, pgx.QueryExecModeSimpleProtocol))
					text := "connected"
					if err == nil {
						p.OnEnd(func() { _ = c.Close(p.Context()) })
					} else if text = err.Error(); strings.Contains(text, "sorry, too many clients already (SQLSTATE 53300)") {
						text = "too many"
					}
					mu.Lock()
					defer mu.Unlock()
					said[text]++
				})
			}
			return w.RunUntil(w.Idle)
		})
		if err != nil || said["connected"] < 90 || said["connected"]+said["too many"] != n {
			t.Errorf("%d connections: %v, %v", n, said, err)
		}
		next(t)
	}
}

// next shows that the next world has a server.
func next(t *testing.T) {
	t.Helper()
	var got int
	var asked error
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{server(t)}}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { asked = open(t, p).QueryRow("SELECT 1").Scan(&got) })
		return w.RunFor(time.Minute)
	})
	if err != nil || asked != nil || got != 1 {
		t.Errorf("the next world: %d, %v, %v", got, asked, err)
	}
}

// A server that has failed in a world is started again for the next one.
func TestNextWorldAfterTheServerHasFailed(t *testing.T) {
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{server(t)}}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			var pid, one int
			other := open(t, p)
			if err := errors.Join(open(t, p).QueryRow("SELECT pg_backend_pid()").Scan(&pid),
				other.QueryRow("SELECT 1").Scan(&one)); err != nil {
				t.Error(err)
				return
			}
			// as a process that crashes: PostgreSQL then ends all of them
			_ = syscall.Kill(pid, syscall.SIGABRT)
			for other.QueryRow("SELECT pg_sleep(0)").Scan(new(any)) == nil { // until it has
			}
		})
		return w.RunUntil(w.Idle)
	})
	t.Logf("the world of the failure: %v", err)
	next(t)
}
