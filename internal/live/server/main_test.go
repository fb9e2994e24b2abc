package server_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksim/internal/live/server"
	"locksim/internal/soak"
)

// patience is how long anything here may take, on a busy machine.
const patience = 3 * time.Minute

// need skips a test where servers are missing, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func need(t *testing.T, kind server.Kind) {
	t.Helper()
	if err := server.Missing(kind); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
}

// start starts servers, which end with the test. It is for tests in real time: without LOCKSIM_SOAK they are skipped,
// and [TestStartsAndAnswers] is what is left.
func start(t *testing.T, o server.Options) (*server.Group, context.Context) {
	t.Helper()
	soak.RealTime(t)
	need(t, o.Kind)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	g, err := server.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dir := filepath.Dir(g.Servers()[0].Dir())
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("the folder is still there: %v", err)
		}
		for _, s := range g.Servers() {
			if c, err := net.Dial("tcp", s.Addr()); err == nil {
				_ = c.Close()
				t.Errorf("%s still listens", s.Name())
			}
		}
	})
	return g, ctx
}

// must fails the test if there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for something that happens by itself.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", patience, what)
		}
	}
}

// Nothing listens beyond the loopback interface, and all servers are reached by the addresses that they say.
func listensOnLoopbackOnly(t *testing.T, g *server.Group) {
	t.Helper()
	for _, s := range g.Servers() {
		host, _, err := net.SplitHostPort(s.Addr())
		if err != nil || host != "127.0.0.1" {
			t.Errorf("%s is on %s", s.Name(), s.Addr())
		}
		found, err := filepath.Glob("/proc/[0-9]*/cwd")
		must(t, err)
		for _, link := range found {
			if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, s.Dir()) {
				for _, at := range listeners(t, filepath.Dir(link)) {
					if !at.IsLoopback() {
						t.Errorf("%s listens on %v", s.Name(), at)
					}
				}
			}
		}
	}
}
