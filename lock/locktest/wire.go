package locktest

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Dial opens a connection. It fits the dialers of go-redis, rueidis, gRPC and others.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Wire is the network between one client and its servers, which can lose messages for a test. It works over any
// connections, simulated or real. It is safe for concurrent use.
//
// Messages are lost silently, as by a firewall: the client's own timeouts have to detect it. A connection that has lost
// a message stays broken: nothing passes any more.
type Wire struct {
	dial Dial

	mu      sync.Mutex // guards the rest, and the state of conns
	cut     bool
	fault   fault
	hit     map[string]bool // servers to which the fault was applied
	conns   map[*wireConn]struct{}
	answers int
}

// fault is applied to the next request to each server.
type fault int

const (
	none fault = iota
	loseRequest
	loseReply
)

// NewWire returns a wire over the connections that dial opens. nil means those of the machine.
func NewWire(dial Dial) *Wire {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &Wire{dial: dial, conns: map[*wireConn]struct{}{}}
}

// Dial opens a connection over the wire.
func (w *Wire) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	inner, err := w.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: inner, wire: w, server: addr}
	w.mu.Lock()
	defer w.mu.Unlock()
	c.broken = w.cut
	w.conns[c] = struct{}{}
	return c, nil
}

// Cut loses everything in both directions until [Wire.Heal].
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	for c := range w.conns {
		c.broken = true
	}
}

// Heal ends the cut, all faults and delays, and resets broken connections.
func (w *Wire) Heal() {
	for _, c := range w.heal() {
		_ = c.Conn.Close()
	}
}

// heal returns the connections to reset.
func (w *Wire) heal() (broken []*wireConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.fault = false, none
	for c := range w.conns {
		c.delay = 0
		if c.broken {
			c.reset = true
			broken = append(broken, c)
		}
	}
	return broken
}

// LoseRequests loses the next request to each server, so that it is not carried out.
func (w *Wire) LoseRequests() { w.arm(loseRequest) }

// LoseReplies loses the answer to the next request to each server, which is carried out.
func (w *Wire) LoseReplies() { w.arm(loseReply) }

func (w *Wire) arm(f fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault, w.hit = f, map[string]bool{}
}

// DelayReplies delays every answer on the present connections by d, until [Wire.Heal].
func (w *Wire) DelayReplies(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.delay = d
	}
}

// Answers is the number of answers that the client has received.
func (w *Wire) Answers() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers
}

// wireConn is a connection over a wire.
type wireConn struct {
	net.Conn
	wire   *Wire
	server string
	wireState
}

// wireState is the state of a connection, guarded by the wire's mutex.
type wireState struct {
	broken   bool // nothing passes
	reset    bool // it was closed when the wire was healed
	delay    time.Duration
	deadline time.Time // of reads
}

func (c *wireConn) Write(request []byte) (int, error) {
	if c.loses() {
		return len(request), nil
	}
	return c.Conn.Write(request)
}

// loses reports whether a request is lost, and applies the armed fault.
func (c *wireConn) loses() bool {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.broken {
		return true
	}
	if w.fault == none || w.hit[c.server] {
		return false
	}
	w.hit[c.server] = true
	c.broken = true
	return w.fault == loseRequest
}

func (c *wireConn) Read(reply []byte) (int, error) {
	for {
		n, err := c.Conn.Read(reply)
		now := c.state()
		switch {
		case now.reset:
			return 0, syscall.ECONNRESET
		case err != nil:
			return n, err
		case now.broken:
			continue
		case !now.deadline.IsZero() && now.delay >= time.Until(now.deadline):
			time.Sleep(time.Until(now.deadline))
			return 0, os.ErrDeadlineExceeded
		}
		time.Sleep(now.delay)
		c.countAnswer()
		return n, nil
	}
}

func (c *wireConn) state() wireState {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	return c.wireState
}

func (c *wireConn) countAnswer() {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.wire.answers++
}

func (c *wireConn) SetDeadline(t time.Time) error { return c.setDeadline(t, c.Conn.SetDeadline) }
func (c *wireConn) SetReadDeadline(t time.Time) error {
	return c.setDeadline(t, c.Conn.SetReadDeadline)
}

// setDeadline sets a deadline and stores it. On a connection that was reset, the next read returns the error.
func (c *wireConn) setDeadline(deadline time.Time, set func(time.Time) error) error {
	c.wire.mu.Lock()
	c.deadline = deadline
	reset := c.reset
	c.wire.mu.Unlock()
	if reset {
		return nil
	}
	return set(deadline)
}

func (c *wireConn) Close() error {
	c.wire.mu.Lock()
	delete(c.wire.conns, c)
	c.wire.mu.Unlock()
	return c.Conn.Close()
}
