package lock_test

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
)

// tap is a proxy between one client and the node. It counts requests and connections, and can lose published messages
// and cut off subscribers.
type tap struct {
	wire     wire
	requests atomic.Int64
	open     atomic.Int64
	deaf     atomic.Bool  // messages are lost from now on
	mute     atomic.Bool  // the node's confirmations of a subscription are lost too
	dead     atomic.Bool  // connections with a subscription end at their next message
	slow     atomic.Int64 // delay of a request for a subscription, in nanoseconds
}

// tapped returns a client behind a tap.
func (w *world) tapped() (*redis.Client, *tap) {
	t := &tap{wire: wire{node: w.node}}
	o := quiet(&t.wire)
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := t.wire.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		t.open.Add(1)
		return &tappedConn{Conn: c, tap: t}, nil
	}
	c := redis.NewClient(o)
	w.Cleanup(func() { _ = c.Close() })
	return c, t
}

type tappedConn struct {
	net.Conn
	tap    *tap
	closed atomic.Bool
}

func (c *tappedConn) Write(b []byte) (int, error) {
	c.tap.requests.Add(1)
	if bytes.Contains(b, []byte("\r\nsubscribe\r\n")) {
		time.Sleep(time.Duration(c.tap.slow.Load()))
	}
	return c.Conn.Write(b)
}

func (c *tappedConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		message := bytes.Contains(b[:n], []byte("\r\nmessage\r\n"))
		if message && c.tap.dead.Load() {
			_ = c.Conn.Close()
			return 0, net.ErrClosed
		}
		confirmed := bytes.Contains(b[:n], []byte("\r\nsubscribe\r\n"))
		if err == nil && (message && c.tap.deaf.Load() || confirmed && c.tap.mute.Load()) {
			continue
		}
		return n, err
	}
}

func (c *tappedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.tap.open.Add(-1)
	}
	return c.Conn.Close()
}

// refuseSubscribe is a hook of the node that forbids subscriptions.
func refuseSubscribe(p *server.Peer, command string, _ ...string) bool {
	if command != "SUBSCRIBE" {
		return false
	}
	p.WriteError("NOPERM no permission")
	return true
}
