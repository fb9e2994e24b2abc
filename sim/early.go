package sim

import (
	"context"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// earlyConn is a connection to an [Early] server: it is there at once, and what is written waits until it is made.
type earlyConn struct {
	local     net.Addr
	remote    net.Addr
	immediate func(b []byte) []byte // what is answered at once; nil for nothing
	cancel    context.CancelFunc
	made      chan struct{} // closed when the connection is made, or has failed
	more      chan struct{} // there is something to send, or to close

	mu     sync.Mutex
	conn   net.Conn
	err    error
	out    []byte
	atOnce []byte
	closed bool
	until  time.Time // the deadline of Read
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
func (p *Process) dialEarly(addr string, h host) net.Conn {
	ctx, cancel := context.WithCancel(p.ctx)
	c := &earlyConn{local: address(p.name), remote: address(addr), cancel: cancel, made: make(chan struct{}),
		more: make(chan struct{}, 1)}
	if s, ok := h.(*Node).server.(Immediate); ok {
		c.immediate = s.Answer
	}
	p.dialsEarly.Store(true)
	go c.pump(ctx, func() (net.Conn, error) { return p.dial(ctx, addr, h, false) })
	return c
}

// dialGreeted is dialEarly to a server that is greeted early, for a client that keeps a mutex meanwhile.
func (p *Process) dialGreeted(addr string, h host, of Greeted) net.Conn {
	ctx, cancel := context.WithCancel(p.ctx)
	c := &earlyConn{local: address(p.name), remote: address(addr), cancel: cancel, made: make(chan struct{}),
		more: make(chan struct{}, 1), immediate: of.Greet}
	go c.pump(ctx, func() (net.Conn, error) { return p.dial(ctx, addr, h, true) })
	return c
}

// calledBelow reports whether the calling goroutine is in a function whose name begins so.
func calledBelow(name string) bool {
	var pcs [64]uintptr
	return slices.ContainsFunc(pcs[:runtime.Callers(2, pcs[:])], func(pc uintptr) bool {
		at := callSite{pc, name}
		below, known := callSites.Load(at)
		if !known {
			below, _ = callSites.LoadOrStore(at, at.isBelow())
		}
		return below.(bool)
	})
}

// callSite is a return address, and how the name of a function begins that is looked for there.
type callSite struct {
	pc   uintptr
	name string
}

// callSites are the answers of isBelow: the frames of an address are always the same, and cost a search of the tables
// of the binary.
var callSites sync.Map

func (c callSite) isBelow() bool {
	frames := runtime.CallersFrames([]uintptr{c.pc})
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, c.name) {
			return true
		}
		if !more {
			return false
		}
	}
}

// pump connects, and sends what is written until the connection is closed. A write does not wait for it: it would wait
// while the process is paused, with a mutex of the client.
func (c *earlyConn) pump(ctx context.Context, dial func() (net.Conn, error)) {
	conn, err := dial()
	c.mu.Lock()
	if c.conn, c.err = conn, err; err == nil {
		_ = conn.SetReadDeadline(c.until)
	}
	c.mu.Unlock()
	close(c.made)
	for err == nil {
		b, closed := c.take()
		switch {
		case len(b) > 0:
			_, err = conn.Write(b)
		case closed:
			_ = conn.Close()
			return
		default:
			select {
			case <-c.more:
			case <-ctx.Done():
			}
			if ctx.Err() != nil && !c.isClosed() { // the run is over: what reads ends too
				_ = conn.Close()
				err = ctx.Err()
			}
		}
	}
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
}

func (c *earlyConn) take() (b []byte, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, c.out = c.out, nil
	return b, c.closed
}

func (c *earlyConn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// wake tells the pump that there is something to do.
func (c *earlyConn) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// Read waits until the connection is made, and for bytes.
func (c *earlyConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	if n := copy(b, c.atOnce); n > 0 {
		c.atOnce = c.atOnce[n:]
		c.mu.Unlock()
		return n, nil
	}
	limit := c.until
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

// Write keeps bytes until they are sent. A request that is answered at once succeeds on a connection that has failed
// too: the client would send it again after a while, and keep its mutex meanwhile. What it does next fails.
func (c *earlyConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	answered := false
	if c.immediate != nil {
		answer := c.immediate(b)
		c.atOnce, answered = append(c.atOnce, answer...), len(answer) > 0
	}
	if c.err != nil {
		if answered {
			return len(b), nil
		}
		return 0, c.err
	}
	c.out = append(c.out, b...)
	c.wake()
	return len(b), nil
}

// Close lets what was written be sent, and closes the connection, or ends the attempt to make it.
func (c *earlyConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	if c.conn != nil {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0)) // a Read ends
		c.wake()
		return nil
	}
	c.cancel()
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
func (c *earlyConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	if c.conn == nil || c.closed {
		return nil
	}
	return c.conn.SetReadDeadline(t)
}

// SetWriteDeadline does nothing: a Write does not wait.
func (c *earlyConn) SetWriteDeadline(time.Time) error { return nil }
