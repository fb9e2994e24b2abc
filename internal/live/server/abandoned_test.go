package server_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/internal/live/server"
)

// session opens a session with a ZooKeeper. The function closes its connections and lets it make no other: the client
// is gone, and has not said so.
func session(t *testing.T, s *server.Server, timeout time.Duration) (c *zk.Conn, hangUp func()) {
	t.Helper()
	var mu sync.Mutex
	var all []net.Conn
	gone := false
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, address, timeout)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && gone {
			_ = c.Close()
			return nil, net.ErrClosed
		}
		if err == nil {
			all = append(all, c)
		}
		return c, err
	}
	c, events, err := zk.Connect([]string{s.Addr()}, timeout, zk.WithDialer(dial), zk.WithLogInfo(false),
		zk.WithLogger(silent{}))
	must(t, err)
	t.Cleanup(func() { go c.Close() }) // it waits for a connection, which there may be none of
	for late := time.After(patience); c.State() != zk.StateHasSession; {
		select {
		case <-events:
		case <-late:
			t.Fatalf("%s gives no session within %v: %v", s.Name(), patience, c.State())
		}
	}
	return c, func() {
		mu.Lock()
		defer mu.Unlock()
		gone = true
		for _, c := range all {
			_ = c.Close()
		}
	}
}

// silent discards the log of the client.
type silent struct{}

func (silent) Printf(string, ...any) {}
