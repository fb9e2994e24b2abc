package upstream

import (
	"context"
	"net"
	"os/exec"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// startEtcd starts an etcd with one member, and returns the address for clients.
func startEtcd(t *testing.T) (addr string) {
	t.Helper()
	path := program(t, "etcd", "install Debian's etcd-server")
	dir, peer := t.TempDir(), "http://"+net.JoinHostPort("127.0.0.1", freePort(t))
	return startOnPort(t, func(port string) *exec.Cmd {
		client := "http://" + net.JoinHostPort("127.0.0.1", port)
		return exec.Command(path, "--data-dir", dir, "--unsafe-no-fsync",
			"--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	}, func(addr string) bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// etcdClient is a client of etcd. It is closed at the end of the test. A session waits for its first answer for one
// second more than DialTimeout.
func etcdClient(t *testing.T, addr string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + addr}, DialTimeout: time.Second,
		Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := c.Get(ctx, "ready"); err != nil {
		t.Fatal(err)
	}
	return c
}
