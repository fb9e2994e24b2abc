package sim

import (
	"strconv"
	"sync/atomic"
)

// conn is one TCP connection: the process's end, the node's end, and a flow
// each way. Only the world's goroutine touches it, unless noted.
type conn struct {
	w      *World
	link   *link
	class  atomic.Pointer[class]
	client *Conn
	server session
	flows  [2]flow
	dead   bool // reset, or over
	silent bool // the client's machine lost its power: nothing comes back

	wasReset bool
}

// flow is one direction of a connection.
type flow struct {
	last  int64 // the instant of the latest delivery that is planned
	seq   atomic.Uint64
	chain *chain
	bytes int  // under way
	ended bool // the sender has ended the stream
	over  bool // the end is on the wire: nothing can follow
	heard bool // and has arrived
}

func (f *flow) nextSeq() uint64 { return f.seq.Add(1) }

// post sends bytes, or the end of the stream (nil), in one direction. Any
// goroutine may call it; the bytes must not be changed afterwards.
func (c *conn) post(dir Direction, b []byte) {
	c.w.out.post(entry{where: c.link.where[dir], rank: rankSend, conn: c, seq: c.flows[dir].nextSeq(),
		dir: dir, data: b, send: (*conn).commit})
}

// commit takes what was posted: into the toxics, or onto the wire.
func (c *conn) commit(dir Direction, b []byte) {
	f := &c.flows[dir]
	if c.dead || f.ended || f.over {
		return
	}
	c.class.Store(c.class.Load().after(c.link, dir, b))
	c.recordSend(dir, b)
	f.ended = b == nil
	f.bytes += len(b)
	if f.chain != nil {
		c.w.stir()
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

// label names the connection in the trace. Any goroutine may call it.
func (c *conn) label() string { return c.class.Load().name }

// wire plans the arrival of bytes or of the end of the stream, in order.
// For twins it is one event.
func (c *conn) wire(dir Direction, b []byte) {
	f := &c.flows[dir]
	if c.dead || f.over {
		return
	}
	f.over = b == nil
	k := c.class.Load()
	at := max(c.w.now()+c.link.delay(dir, "data", k.order), f.last+1)
	arrive := func() { c.arrive(dir, b) }
	if k.alone {
		f.last = c.w.queue.add(at, arrive)
		return
	}
	f.last = c.w.queue.join(c.link.where[dir], k.name, at, arrive)
}

func (c *conn) arrive(dir Direction, b []byte) {
	if c.dead {
		return
	}
	c.flows[dir].bytes -= len(b)
	switch {
	case dir == Down:
		c.arriveAtClient(b)
	default:
		c.client.drained(len(b))
		c.arriveAtNode(b)
	}
	if b == nil {
		c.ended(dir)
	}
}

// ended notes that the end of a stream has arrived; what its toxics have lost
// is no longer under way. When both ends have been heard the connection is
// over.
func (c *conn) ended(dir Direction) {
	c.flows[dir].heard, c.flows[dir].bytes = true, 0
	if c.flows[Up].heard && c.flows[Down].heard {
		c.kill()
		c.link.forget(c)
	}
}

// arriveAtNode gives bytes, or the end of the stream, to a node when it serves.
func (c *conn) arriveAtNode(b []byte) {
	if len(c.w.force.stalls) > 0 {
		c.w.whenServed(c.link.host, func() { c.serve(b) })
		return
	}
	c.serve(b)
}

// serve hands over what has arrived at the node, unless the connection has
// been reset while it waited.
func (c *conn) serve(b []byte) {
	switch {
	case c.wasReset:
	case b == nil:
		c.server.eof()
	default:
		c.server.data(b)
	}
}

func (c *conn) arriveAtClient(b []byte) {
	if c.silent {
		c.arriveTooLate()
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
}

// arriveTooLate is what becomes of an answer to a machine that has lost its
// power. Once it is up again it knows nothing of the connection, and says so.
func (c *conn) arriveTooLate() {
	if c.client.p != c.link.p {
		c.reset()
	}
}

// emit is what comes out of a flow's toxics.
func (c *conn) emit(dir Direction, b []byte) {
	f := &c.flows[dir]
	c.w.out.post(entry{where: c.link.where[dir], rank: rankSend, conn: c, seq: f.nextSeq(),
		dir: dir, data: b, send: (*conn).wire})
}

// send is how a session answers.
func (c *conn) send(b []byte) { c.post(Down, append([]byte(nil), b...)) }

// finish is how a session closes in order.
func (c *conn) finish() { c.post(Down, nil) }

// reset breaks the connection: both ends see ECONNRESET, and what is under
// way or unread is gone. Clients that wait for an answer wake one by one: what
// several do at once, such as to draw from the program's random source, would
// be a race.
func (c *conn) reset() {
	if c.dead {
		return
	}
	c.w.record("world", "reset", c.link.where[Up], c.label())
	c.wasReset = true
	c.server.reset()
	c.kill()
	c.link.forget(c)
	c.client.fail()
	c.w.queue.join(c.link.where[Down], "reset "+c.label(), c.w.now()+1, c.client.wake)
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
