package oracle_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// patience is how long a cluster may take to serve.
const patience = 20 * time.Second

// unprivileged is the id of the user that runs the servers where the tests run as root; it owns no files.
const unprivileged = 65534

// cluster starts three members of Debian's etcd-server on free ports of the loopback interface, as an unprivileged user,
// and returns a client of the first. They end with the test, and with the test program. Without the server the test is
// skipped, or fails with LOCKSIM_REQUIRE_LIVE=1.
func cluster(t *testing.T) *clientv3.Client {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatal("etcd is missing, and LOCKSIM_REQUIRE_LIVE=1: install Debian's etcd-server")
		}
		t.Skip("etcd is missing: install Debian's etcd-server; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure")
	}
	dir, err := os.MkdirTemp("", "locksim-etcd-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own(t, dir)
	clients, peers := freeAddresses(t, 3), freeAddresses(t, 3)
	var all []string
	for i, peer := range peers {
		all = append(all, fmt.Sprintf("e%d=http://%s", i, peer))
	}
	for i := range clients {
		start(t, dir, exec.Command(program,
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

// own gives a folder to the user that runs the servers.
func own(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
		t.Fatal(err)
	}
}

// start starts a process, which ends with the test.
func start(t *testing.T, dir string, cmd *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() && log.Len() > 0 {
			t.Logf("%s:\n%s", cmd.Args[2], &log)
		}
	})
}

// freeAddresses are addresses of the loopback interface on which nothing listens.
func freeAddresses(t *testing.T, count int) []string {
	t.Helper()
	var all []string
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // it has served its purpose
		all = append(all, l.Addr().String())
	}
	return all
}
