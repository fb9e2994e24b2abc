package sim

import (
	"context"
	"net"
	"os"
	"sync"
	"time"
)

// earlyConn is a connection to an [Early] server: it is there at once, and what is written waits until it is made.
type earlyConn struct {
	local     net.Addr
	remote    net.Addr
	immediate Immediate // nil if the server is none
	cancel    context.CancelFunc
	made      chan struct{} // closed when the connection is made, or has failed

	mu        sync.Mutex
	conn      net.Conn
	err       error
	out       []byte
	atOnce    []byte
	closed    bool
	deadlines [2]time.Time // of reading and writing
}

// early reports whether a host is an [Early] server. An alias is none.
func (p *Process) early(h host) bool {
	n, ok := h.(*Node)
	if !ok {
		return false
	}
	_, ok = n.server.(Early)
	return ok
}

// dialEarly begins to connect, and returns the connection at once.
func (p *Process) dialEarly(network, addr string, h host) net.Conn {
	ctx, cancel := context.WithCancel(p.ctx)
	c := &earlyConn{local: address(p.name), remote: address(addr), cancel: cancel, made: make(chan struct{})}
	c.immediate, _ = h.(*Node).server.(Immediate)
	go func() {
		defer close(c.made)
		conn, err := p.dial(ctx, network, addr, h)
		for err == nil {
			b, over := c.take(conn)
			if over {
				return
			}
			_, err = conn.Write(b)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = err
	}()
	return c
}

// take takes what was written meanwhile. The mutex is not kept over a write, which waits while the process is paused. over says
// that the connection is ready, or closed.
func (c *earlyConn) take(conn net.Conn) (b []byte, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		_ = conn.Close()
		return nil, true
	case len(c.out) > 0:
		b, c.out = c.out, nil
		return b, false
	}
	_ = conn.SetReadDeadline(c.deadlines[forRead])
	_ = conn.SetWriteDeadline(c.deadlines[forWrite])
	c.conn = conn
	return nil, true
}

// Read waits until the connection is made, and for bytes.
func (c *earlyConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	if n := copy(b, c.atOnce); n > 0 {
		c.atOnce = c.atOnce[n:]
		c.mu.Unlock()
		return n, nil
	}
	limit := c.deadlines[forRead]
	c.mu.Unlock()
	if err := c.await(limit); err != nil {
		return 0, err
	}
	return c.conn.Read(b)
}

// await waits until the connection is made.
func (c *earlyConn) await(limit time.Time) error {
	var late <-chan time.Time
	if !limit.IsZero() {
		timer := time.NewTimer(time.Until(limit)) //nolint:forbidigo // it is in the bubble
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-c.made:
	default:
		select {
		case <-c.made:
		case <-late:
			return &net.OpError{Op: "read", Net: "tcp", Addr: c.remote, Err: os.ErrDeadlineExceeded}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	default:
		return c.err
	}
}

// Write sends bytes, or keeps them until the connection is made.
func (c *earlyConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return 0, net.ErrClosed
	case c.err != nil:
		defer c.mu.Unlock()
		return 0, c.err
	}
	if c.immediate != nil {
		c.atOnce = append(c.atOnce, c.immediate.Answer(b)...)
	}
	if c.conn == nil {
		c.out = append(c.out, b...)
		c.mu.Unlock()
		return len(b), nil
	}
	c.mu.Unlock()
	return c.conn.Write(b)
}

// Close closes the connection, and ends the attempt to make it.
func (c *earlyConn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return net.ErrClosed
	}
	c.closed = true
	conn := c.conn
	c.mu.Unlock()
	c.cancel()
	if conn != nil {
		return conn.Close()
	}
	return nil
}

// LocalAddr is the process's name.
func (c *earlyConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the server's address.
func (c *earlyConn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both.
func (c *earlyConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of Read.
func (c *earlyConn) SetReadDeadline(t time.Time) error { return c.limit(forRead, t) }

// SetWriteDeadline sets the deadline of Write.
func (c *earlyConn) SetWriteDeadline(t time.Time) error { return c.limit(forWrite, t) }

func (c *earlyConn) limit(which int, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines[which] = t
	switch {
	case c.conn == nil:
		return nil
	case which == forRead:
		return c.conn.SetReadDeadline(t)
	}
	return c.conn.SetWriteDeadline(t)
}
