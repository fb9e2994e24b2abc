package sqllocks

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// goodbye is a connection on which pgx says goodbye the same way each time. It may end a connection under a context
// that has ended: one of its goroutines sends the message that ends the connection, another one sets a deadline that
// keeps the first from it, and the scheduler decides. Here no deadline keeps that message from being sent.
type goodbye struct {
	net.Conn

	mu     sync.Mutex
	saying bool
	until  time.Time // the deadline
}

// terminate is the message.
var terminate = []byte{'X', 0, 0, 0, 4}

// Write implements [net.Conn].
func (g *goodbye) Write(b []byte) (int, error) {
	if !bytes.Equal(b, terminate) {
		return g.Conn.Write(b)
	}
	_ = g.set(true)
	defer g.set(false) //nolint:errcheck // it fails on a closed connection only
	return g.Conn.Write(b)
}

// set begins or ends the time without a deadline.
func (g *goodbye) set(saying bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saying = saying
	if saying {
		return g.Conn.SetDeadline(time.Time{})
	}
	return g.Conn.SetDeadline(g.until)
}

// SetDeadline implements [net.Conn].
func (g *goodbye) SetDeadline(t time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = t
	if g.saying {
		return nil
	}
	return g.Conn.SetDeadline(t)
}
