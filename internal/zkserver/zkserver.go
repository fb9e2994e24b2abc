// Package zkserver starts real ZooKeeper servers for tests, one or an ensemble, by package server of the live world.
package zkserver

import (
	"context"
	"os"
	"testing"
	"time"

	"locksim/internal/live/server"
)

// patience is how long the servers may take to serve.
const patience = 60 * time.Second

// Need skips the test where there is no ZooKeeper, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func Need(t testing.TB) {
	t.Helper()
	switch err := server.Missing(server.ZooKeeper); {
	case err == nil:
	case os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1":
		t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
	default:
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
}

// Start starts so many servers with this tick, and returns their addresses when all of them serve. It needs what [Need]
// checks. They end with the test, and with the test program. Nothing is synced to the disk, and empty containers stay
// for a day.
func Start(t testing.TB, count int, tick time.Duration) (addresses []string) {
	t.Helper()
	Need(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g, err := server.Start(ctx, server.Options{Kind: server.ZooKeeper, Count: count, Tick: tick})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range g.Servers() {
				t.Logf("%s:\n%s", s.Name(), s.Output())
			}
		}
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, s := range g.Servers() {
		addresses = append(addresses, s.Addr())
	}
	return addresses
}
