package oracle_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"locksim/internal/realserver"
)

// patience is how long a cluster may take to serve.
const patience = 20 * time.Second

// cluster starts three members of Debian's etcd-server on free ports of the loopback interface, as an unprivileged
// user, and returns a client of the first. They end with the test, and with the test program. Without the server the
// test is skipped, or fails with LOCKSIM_REQUIRE_LIVE=1.
func cluster(t *testing.T) *clientv3.Client {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatal("etcd is missing, and LOCKSIM_REQUIRE_LIVE=1: install Debian's etcd-server")
		}
		t.Skip("etcd is missing: install Debian's etcd-server; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure")
	}
	dir, clients, peers := realserver.Folder(t, "locksim-etcd-"), realserver.Addresses(t, 3), realserver.Addresses(t, 3)
	var all []string
	for i, peer := range peers {
		all = append(all, fmt.Sprintf("e%d=http://%s", i, peer))
	}
	for i := range clients {
		realserver.Start(t, fmt.Sprintf("e%d", i), dir, exec.Command(program,
			"--name", fmt.Sprintf("e%d", i), "--data-dir", filepath.Join(dir, fmt.Sprintf("e%d", i)),
			"--listen-client-urls", "http://"+clients[i], "--advertise-client-urls", "http://"+clients[i],
			"--listen-peer-urls", "http://"+peers[i], "--initial-advertise-peer-urls", "http://"+peers[i],
			"--initial-cluster", strings.Join(all, ","), "--initial-cluster-token", filepath.Base(dir),
			"--unsafe-no-fsync", "--logger", "zap", "--log-level", "error"))
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: clients[:1], Logger: zap.NewNop(), DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		try, end := context.WithTimeout(ctx, time.Second)
		_, err := c.Get(try, "ready") // a majority has to answer
		end()
		if err == nil {
			return c
		}
		if ctx.Err() != nil {
			t.Fatalf("the cluster does not serve after %v: %v", patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
