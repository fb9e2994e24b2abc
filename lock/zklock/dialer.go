package zklock

import (
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
)

// Dialer dials for one connection of the client. It is safe for concurrent use.
//
//	dialer := zklock.NewDialer(timeout, nil, nil)
//	conn, _, err := zk.Connect(servers, timeout, zk.WithDialer(dialer.Dial))
//	…
//	locks, err := zklock.New(conn, zklock.Options{SessionTimeout: timeout, Dialer: dialer})
//
// With it the client gives a server up that does not answer. Without it the client waits for the first answer of a
// server for almost seven session timeouts, if the server's machine is gone: no lock that it has, or waits for, goes on
// until then.
//
// A lock that knows the dialer is sure of its session when it is new, and does not have to wait for that.
type Dialer struct {
	timeout time.Duration
	dial    zk.Dialer
	clock   lock.Clock

	mu    sync.Mutex
	began time.Time // when the client first wrote on the latest connection
}

// NewDialer returns the dialer for a connection with a session timeout. dial makes the connections; nil means
// [net.DialTimeout]. clock is that of the lock; nil means the machine's.
func NewDialer(sessionTimeout time.Duration, dial zk.Dialer, clock lock.Clock) *Dialer {
	if dial == nil {
		dial = net.DialTimeout
	}
	if clock == nil {
		clock = lock.SystemClock()
	}
	return &Dialer{timeout: sessionTimeout, dial: dial, clock: clock}
}

// Dial implements [zk.Dialer].
func (d *Dialer) Dial(network, address string, timeout time.Duration) (net.Conn, error) {
	c, err := d.dial(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &dialled{Conn: c, dialer: d}, nil
}

// since is when the client asked for its session on the connection that it has. The leader has heard of the session
// later.
func (d *Dialer) since() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.began
}

// dialled is a connection of a dialer.
type dialled struct {
	net.Conn

	dialer *Dialer
	once   sync.Once
}

// Write implements [net.Conn].
func (c *dialled) Write(b []byte) (int, error) {
	c.once.Do(func() {
		now := c.dialer.clock.Now()
		c.dialer.mu.Lock()
		defer c.dialer.mu.Unlock()
		c.dialer.began = now
	})
	return c.Conn.Write(b)
}

// SetReadDeadline implements [net.Conn]. No read waits for longer than the client waits for an answer later.
func (c *dialled) SetReadDeadline(t time.Time) error {
	return c.Conn.SetReadDeadline(earlier(t, c.dialer.timeout*2/3))
}
