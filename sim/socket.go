package sim

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"locksim/faults"
)

// sendBuffer bounds the bytes under way in one direction; a write beyond it
// waits, as with a full TCP window.
const sendBuffer = 256 << 10

// Conn is the process's end of a connection: a net.Conn in virtual time. It
// buffers as TCP does, and every operation is a seam of the process.
type Conn struct {
	c      *conn
	p      *Process
	remote net.Addr

	mu        sync.Mutex
	cond      *sync.Cond
	in        []byte
	atOnce    []byte // what an [Immediate] server has answered
	eof       bool
	reset     bool
	closed    bool
	finished  bool // the end of the stream has been sent
	unsent    int  // bytes under way to the server
	deadlines [2]deadline
	whenReset func() // called when a reset is noticed; nil for none
}

var _ net.Conn = (*Conn)(nil)

func newConn(p *Process, c *conn, remote net.Addr) *Conn {
	cl := &Conn{c: c, p: p, remote: remote}
	cl.cond = sync.NewCond(&cl.mu)
	return cl
}

// Read waits for bytes. It returns io.EOF after an orderly close by the server,
// ECONNRESET after a reset, os.ErrDeadlineExceeded at the deadline,
// net.ErrClosed after Close, and [ErrCrashed] when the process has crashed.
func (c *Conn) Read(b []byte) (int, error) {
	if n := c.readAtOnce(b); n > 0 {
		return n, nil
	}
	waited := false
	for {
		if err := c.pass("read"); err != nil {
			return 0, c.opError("read", err)
		}
		c.mu.Lock()
		if n, err, done := c.tryRead(b, waited); done {
			c.mu.Unlock()
			return n, c.opError("read", err)
		}
		waited = true
		c.arm(forRead)
		c.cond.Wait()
		c.mu.Unlock()
	}
}

// readAtOnce reads the answers of an [Immediate] server.
func (c *Conn) readAtOnce(b []byte) int {
	if c.c.immediate == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.in) > 0 || c.closed || c.reset {
		return 0
	}
	n := copy(b, c.atOnce)
	c.atOnce = c.atOnce[n:]
	return n
}

// answerAtOnce reports whether an [Immediate] server answers what is written.
func (c *Conn) answerAtOnce(b []byte) bool {
	if c.c.immediate == nil {
		return false
	}
	answer := c.c.immediate.Answer(b)
	if answer == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.reset || c.finished {
		return false
	}
	c.atOnce = append(c.atOnce, answer...)
	return true
}

// tryRead reads what has arrived. done is false if the reader has to wait.
func (c *Conn) tryRead(b []byte, waited bool) (n int, err error, done bool) {
	late := c.deadlines[forRead].passed()
	switch {
	case c.closed:
		return 0, net.ErrClosed, true
	case c.reset:
		c.noticeReset()
		return 0, connReset, true
	case late && !(waited && len(c.in) > 0 && c.dataWinsRace()):
		return 0, os.ErrDeadlineExceeded, true
	case len(c.in) > 0 || len(b) == 0:
		n = copy(b, c.in)
		c.in = c.in[n:]
		return n, nil, true
	case c.eof:
		return 0, io.EOF, true
	}
	return 0, nil, false
}

// dataWinsRace draws the outcome of a read that was blocked when its process
// was paused, and finds on resume both data and a deadline that has passed.
// Both outcomes occur in practice.
func (c *Conn) dataWinsRace() bool {
	w := c.p.w
	return w.chance.draw("late-read").Str(c.c.link.where[Up]).Num(c.c.class.Load().order).Num(
		int64(w.time.Now())).Value()%2 == 0
}

// Write passes bytes to the network; a nil error does not mean that they
// arrive. It waits while more than 256 KiB are under way. Errors as for Read,
// and EPIPE after [Conn.CloseWrite].
func (c *Conn) Write(b []byte) (int, error) {
	if c.answerAtOnce(b) {
		return len(b), nil
	}
	for {
		if err := c.pass("write"); err != nil {
			return 0, c.opError("write", err)
		}
		c.mu.Lock()
		if err, done := c.tryWrite(b); done {
			c.mu.Unlock()
			if err != nil {
				return 0, c.opError("write", err)
			}
			return len(b), nil
		}
		c.arm(forWrite)
		c.cond.Wait()
		c.mu.Unlock()
	}
}

func (c *Conn) tryWrite(b []byte) (err error, done bool) {
	switch {
	case c.closed:
		return net.ErrClosed, true
	case c.reset:
		c.noticeReset()
		return connReset, true
	case c.finished:
		return brokenPipe, true
	case c.deadlines[forWrite].passed():
		return os.ErrDeadlineExceeded, true
	case len(b) == 0:
		return nil, true
	case c.unsent >= sendBuffer:
		return nil, false
	}
	var sent []byte
	if c.c.canonical != nil {
		sent = c.c.canonical.Canonical(b)
	} else {
		sent = append(sent, b...)
	}
	c.unsent += len(sent)
	c.c.post(Up, sent)
	return nil, true
}

func (c *Conn) noticeReset() {
	if c.whenReset != nil {
		c.whenReset()
	}
}

// Close ends the connection in order: bytes written before still arrive at the
// server, bytes from it are discarded.
func (c *Conn) Close() error {
	if err := c.pass("close"); err != nil {
		return c.opError("close", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.opError("close", net.ErrClosed)
	}
	c.closed = true
	c.in = nil
	c.finish()
	c.cond.Broadcast()
	return nil
}

// CloseWrite ends the stream to the server and leaves the other direction open.
func (c *Conn) CloseWrite() error {
	if err := c.pass("close"); err != nil {
		return c.opError("close", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.opError("close", net.ErrClosed)
	}
	c.finish()
	return nil
}

// finish sends the end of the stream, once. The mutex is held.
func (c *Conn) finish() {
	if c.finished || c.reset {
		return
	}
	c.finished = true
	c.c.post(Up, nil)
}

// arrived takes bytes, or the end of the stream, from the network.
func (c *Conn) arrived(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return
	case b == nil:
		c.eof = true
	default:
		c.in = append(c.in, b...)
	}
	c.cond.Broadcast()
}

// drained makes room in the send buffer. It reports whether it has woken a goroutine that may have waited for that.
func (c *Conn) drained(n int) (woken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	full := c.unsent >= sendBuffer
	c.unsent -= n
	if full {
		c.cond.Broadcast()
	}
	return full
}

// broken makes every operation fail from now on, blocked ones too.
func (c *Conn) broken() {
	c.fail()
	c.wake()
}

// fail makes every operation fail from now on, blocked ones when they wake.
func (c *Conn) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset, c.in = true, nil
}

// wake lets blocked operations check again.
func (c *Conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cond.Broadcast()
}

// pass passes the gate; the seam's name is built only where a goroutine waits.
func (c *Conn) pass(op string) error {
	if c.p.gate.isOpen() {
		return nil
	}
	return c.p.gate.pass(c.seam(op))
}

func (c *Conn) seam(op string) string { return op + " " + c.c.link.where[Up] + c.c.name() }

// LocalAddr is the process.
func (c *Conn) LocalAddr() net.Addr { return address(c.p.name) }

// RemoteAddr is the server's address.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

func (c *Conn) opError(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	if e, ok := errors.AsType[errno](err); ok {
		err = e.of(op)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.remote, Err: err}
}

// address is a net.Addr in the world.
type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

// sockets are the open connections of a process.
type sockets struct {
	mu    sync.Mutex
	conns []*Conn
}

func (s *sockets) add(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, c)
}

// forget drops a connection that is over.
func (s *sockets) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.conns, c); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
}

func (s *sockets) crash(mode faults.CrashMode) {
	s.mu.Lock()
	conns := s.conns
	s.mu.Unlock()
	for _, c := range conns {
		if mode == faults.CrashPower {
			c.c.silent = true
			c.wake()
			continue
		}
		c.abort()
	}
}

// abort closes the process's end without passing its gate.
func (c *Conn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed, c.in = true, nil
		c.finish()
	}
	c.cond.Broadcast()
}

const (
	forRead = iota
	forWrite
)

// deadline is a deadline of a connection, with the event that enforces it.
type deadline struct {
	at    time.Time
	armed time.Time // the instant of the planned event
}

var deadlineNames = [2]string{forRead: "read deadline", forWrite: "write deadline"}

func (d *deadline) passed() bool { return !d.at.IsZero() && !bubbleNow().Before(d.at) }

// SetDeadline sets both deadlines; the zero time means none.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.setDeadline(forRead, t), c.setDeadline(forWrite, t))
}

// SetReadDeadline sets the deadline of Read.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(forRead, t) }

// SetWriteDeadline sets the deadline of Write.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(forWrite, t) }

func (c *Conn) setDeadline(side int, t time.Time) error {
	if Overlaid() && !t.IsZero() {
		t = c.p.inBubble(t)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines[side].at = t
	c.cond.Broadcast() // a blocked operation arms the new one
	return nil
}

// arm plans an event at the deadline of a blocked operation. Deadlines are
// moved far more often than they expire, so the event of an old deadline plans
// the next one when it fires. Deadlines of twins are one event. The mutex is
// held.
func (c *Conn) arm(side int) {
	d := &c.deadlines[side]
	if d.at.IsZero() || !d.armed.IsZero() && !d.armed.After(d.at) {
		return
	}
	at := d.at
	d.armed = at
	w, label, due := c.p.w, c.seam(deadlineNames[side]), int64(at.Sub(c.p.w.time.start))
	w.time.outbox.post(entry{where: c.p.name, rank: rankTimer, seq: uint64(due), label: label, commit: func() {
		w.time.queue.join(c.p.name, label, max(due, w.time.now()+1), func() { c.expire(side, at) })
	}})
}

func (c *Conn) expire(side int, planned time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &c.deadlines[side]
	if d.armed.Equal(planned) {
		d.armed = time.Time{}
	}
	c.cond.Broadcast()
}
