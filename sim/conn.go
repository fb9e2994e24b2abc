package sim

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sendBuffer bounds the bytes of one direction that are under way; a write
// beyond it waits, as with a full TCP window.
const sendBuffer = 256 << 10

// conn is one TCP connection: the process's end, the node's end, and a flow
// each way. Only the world's goroutine touches it, unless noted.
type conn struct {
	w      *World
	link   *link
	id     atomic.Int64 // 0 until it has sent something; see connOrder
	client *Conn
	server session
	flows  [2]flow
	dead   bool // reset, or over
	silent bool // the client's machine lost its power: nothing comes back
}

// flow is one direction of a connection.
type flow struct {
	last  int64 // the instant of the latest delivery that is planned
	seq   atomic.Uint64
	chain *chain
	bytes int  // under way
	ended bool // the end of the stream has been sent
	heard bool // and has arrived
}

func (f *flow) nextSeq() uint64 { return f.seq.Add(1) }

// post sends bytes, or the end of the stream (nil), in one direction. Any
// goroutine may call it; the bytes must not be changed afterwards.
func (c *conn) post(dir Direction, b []byte) {
	seq := c.flows[dir].nextSeq()
	label := ""
	if c.id.Load() == 0 {
		label = string(b)
	}
	c.w.out.post(entry{where: c.link.where[dir], rank: rankSend, conn: c, label: label, seq: seq,
		commit: func() { c.commit(dir, b) }})
}

// commit takes what was posted: into the toxics, or onto the wire.
func (c *conn) commit(dir Direction, b []byte) {
	f := &c.flows[dir]
	if c.dead || f.ended {
		return
	}
	if c.id.Load() == 0 {
		c.link.ids++
		c.id.Store(c.link.ids)
	}
	c.recordSend(dir, b)
	f.ended = b == nil
	f.bytes += len(b)
	if f.chain != nil {
		f.chain.push(b)
		return
	}
	c.wire(dir, b)
}

func (c *conn) recordSend(dir Direction, b []byte) {
	if c.w.cfg.Untraced {
		return
	}
	from, to := c.link.ends(dir)
	if b == nil {
		c.w.record(from, "close", to, c.label())
		return
	}
	c.w.record(from, "send", to, c.label()+" "+readable(b))
}

func (c *conn) label() string { return "#" + strconv.FormatInt(c.id.Load(), 10) }

// wire plans the arrival of bytes or of the end of the stream, in order.
func (c *conn) wire(dir Direction, b []byte) {
	if c.dead {
		return
	}
	f := &c.flows[dir]
	at := max(c.w.now()+c.link.delay(dir, "data", c.id.Load()), f.last+1)
	f.last = c.w.queue.add(at, func() { c.arrive(dir, b) })
}

func (c *conn) arrive(dir Direction, b []byte) {
	if c.dead {
		return
	}
	c.flows[dir].bytes -= len(b)
	c.flows[dir].heard = b == nil
	if dir == Down {
		c.arriveAtClient(b)
		return
	}
	c.client.drained(len(b))
	if b != nil {
		c.server.data(b)
		return
	}
	c.server.eof()
	c.over()
}

func (c *conn) arriveAtClient(b []byte) {
	if c.silent {
		return
	}
	if !c.w.cfg.Untraced {
		kind, text := "recv", c.label()+" "+strconv.Itoa(len(b))+" bytes"
		if b == nil {
			kind, text = "eof", c.label()
		}
		c.w.record(c.link.p.name, kind, c.link.host.name(), text)
	}
	c.client.arrived(b)
	c.over()
}

// over forgets a connection once both ends of it have been heard.
func (c *conn) over() {
	if c.flows[Up].heard && c.flows[Down].heard {
		c.link.forget(c)
	}
}

// emit is what comes out of a flow's toxics.
func (c *conn) emit(dir Direction, b []byte) {
	f := &c.flows[dir]
	c.w.out.post(entry{where: c.link.where[dir], rank: rankSend, conn: c, seq: f.nextSeq(),
		commit: func() { c.wire(dir, b) }})
}

// send is how a session answers.
func (c *conn) send(b []byte) { c.post(Down, append([]byte(nil), b...)) }

// finish is how a session closes in order.
func (c *conn) finish() { c.post(Down, nil) }

// reset breaks the connection: both ends see ECONNRESET, and what is under
// way or unread is gone.
func (c *conn) reset() {
	if c.dead {
		return
	}
	c.w.record("world", "reset", c.link.where[Up], c.label())
	c.server.reset()
	c.client.broken()
	c.kill()
	c.link.forget(c)
}

// kill ends the connection without telling anybody.
func (c *conn) kill() {
	c.dead = true
	for dir := range c.flows {
		if ch := c.flows[dir].chain; ch != nil {
			ch.kill()
		}
	}
}

func (c *conn) inFlight() int { return c.flows[Up].bytes + c.flows[Down].bytes }

// Conn is the process's end of a connection: a net.Conn in virtual time. It
// buffers like TCP, and every operation is a seam of the process.
type Conn struct {
	c      *conn
	p      *Process
	remote net.Addr

	mu        sync.Mutex
	cond      *sync.Cond
	in        []byte
	eof       bool
	reset     bool
	closed    bool
	finished  bool // our end of the stream has been sent
	unsent    int  // bytes under way from here
	deadlines [2]deadline
}

var _ net.Conn = (*Conn)(nil)

const (
	forRead = iota
	forWrite
)

func newConn(p *Process, c *conn, remote net.Addr) *Conn {
	cl := &Conn{c: c, p: p, remote: remote}
	cl.cond = sync.NewCond(&cl.mu)
	return cl
}

// Read waits for bytes. It returns io.EOF after an orderly close by the node,
// ECONNRESET after a reset, os.ErrDeadlineExceeded at the deadline, net.ErrClosed
// after Close, and [ErrCrashed] when the process is no more.
func (c *Conn) Read(b []byte) (int, error) {
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

// tryRead reads what is there. done is false where the reader has to wait.
func (c *Conn) tryRead(b []byte, waited bool) (n int, err error, done bool) {
	late := c.deadlines[forRead].passed()
	switch {
	case c.closed:
		return 0, net.ErrClosed, true
	case c.reset:
		return 0, syscall.ECONNRESET, true
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

// dataWinsRace draws the outcome of a read that was waiting when its process
// was paused, and finds on resuming both data and a deadline that has passed.
// Either outcome is real.
func (c *Conn) dataWinsRace() bool {
	w := c.p.w
	return w.draw("late-read").str(c.c.link.where[Up]).num(c.c.id.Load()).num(w.now()).value()%2 == 0
}

// Write hands bytes to the network; that they are accepted does not mean
// that they arrive. It waits while more than 256 KiB are under way. Errors as
// for Read, and EPIPE after [Conn.CloseWrite].
func (c *Conn) Write(b []byte) (int, error) {
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
		return syscall.ECONNRESET, true
	case c.finished:
		return syscall.EPIPE, true
	case c.deadlines[forWrite].passed():
		return os.ErrDeadlineExceeded, true
	case len(b) == 0:
		return nil, true
	case c.unsent >= sendBuffer:
		return nil, false
	}
	c.unsent += len(b)
	c.c.post(Up, append([]byte(nil), b...))
	return nil, true
}

// Close ends the connection in order: what was written before still arrives,
// what arrives later is thrown away.
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

// CloseWrite ends the stream to the node and leaves the other way open.
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

// drained makes room in the send buffer.
func (c *Conn) drained(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	full := c.unsent >= sendBuffer
	c.unsent -= n
	if full {
		c.cond.Broadcast()
	}
}

// broken makes every operation fail from now on.
func (c *Conn) broken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset, c.in = true, nil
	c.cond.Broadcast()
}

// wake lets blocked operations look again.
func (c *Conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cond.Broadcast()
}

// pass is the gate; the seam's name is made only where somebody waits there.
func (c *Conn) pass(op string) error {
	if c.p.gate.isOpen() {
		return nil
	}
	return c.p.gate.pass(c.seam(op))
}

func (c *Conn) seam(op string) string { return op + " " + c.c.link.where[Up] + c.c.label() }

// LocalAddr is the process.
func (c *Conn) LocalAddr() net.Addr { return address(c.p.name) }

// RemoteAddr is the node's address.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

func (c *Conn) opError(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.remote, Err: err}
}

// address is a net.Addr in the world.
type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

// deadline is a deadline of a connection and the event that enforces it.
type deadline struct {
	at    time.Time
	armed time.Time // the instant for which an event is planned
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// SetDeadline sets both deadlines; the zero time means none.
func (c *Conn) SetDeadline(t time.Time) error {
	c.setDeadline(forRead, t)
	c.setDeadline(forWrite, t)
	return nil
}

// SetReadDeadline sets the deadline of Read.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(forRead, t) }

// SetWriteDeadline sets the deadline of Write.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(forWrite, t) }

func (c *Conn) setDeadline(side int, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines[side].at = t
	c.cond.Broadcast() // a blocked operation arms the new one
	return nil
}

// arm plans an event at the deadline of a blocked operation. Deadlines are
// moved far more often than they pass: the event that is planned for an old
// one plans the next when it fires. The mutex is held.
func (c *Conn) arm(side int) {
	d := &c.deadlines[side]
	if d.at.IsZero() || !d.armed.IsZero() && !d.armed.After(d.at) {
		return
	}
	at := d.at
	d.armed = at
	c.p.w.out.post(entry{where: c.p.name, rank: rankTimer, label: c.seam("deadline"), commit: func() {
		c.p.w.queue.add(max(int64(at.Sub(c.p.w.start)), c.p.w.now()+1), func() { c.expire(side, at) })
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
