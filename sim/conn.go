package sim

import (
	"sync/atomic"

	"locksim/sim/rare"
	"locksim/sim/trace"
)

// conn is one TCP connection: the process's end, the server's end, and a flow
// each way. It is for the world's goroutine, unless noted.
type conn struct {
	w      *World
	link   *link
	class  atomic.Pointer[class]
	client *Conn
	server *ServerConn
	flows  [2]flow
	dead   bool // reset, or over
	silent bool // the client's machine lost its power and answers nothing

	wasReset bool

	// The abilities of the server that concern its connections.
	describe  Describer
	canonical Canonical
	immediate Immediate
	greeted   bool
	still     Still
	joins     bool
}

// flow is one direction of a connection.
type flow struct {
	last  int64 // the instant of the latest planned delivery
	seq   atomic.Uint64
	chain *chain
	bytes int  // under way
	ended bool // the sender has ended the stream
	over  bool // the end is on the wire, so nothing can follow
	heard bool // the end has arrived
}

func (f *flow) nextSeq() uint64 { return f.seq.Add(1) }

// post sends bytes, or the end of the stream (nil), in one direction. Any
// goroutine may call it; the caller must not change the bytes afterwards.
func (c *conn) post(dir Direction, b []byte) {
	c.w.time.outbox.post(entry{where: c.link.where[dir], rank: rankSend, conn: c, seq: c.flows[dir].nextSeq(),
		dir: dir, data: b})
}

// commit puts what was posted into the toxics, or onto the wire.
func (c *conn) commit(dir Direction, b []byte) {
	if dir == Up && b != nil {
		c.link.node.used.once()
	}
	f := &c.flows[dir]
	if c.dead || f.ended || f.over {
		return
	}
	c.class.Store(c.class.Load().after(c.link, dir, b))
	c.recordSend(dir, b)
	f.ended = b == nil
	f.bytes += len(b)
	if f.chain != nil {
		c.w.time.markUnblocked()
		f.chain.push(b)
		return
	}
	c.planArrival(dir, b)
}

// accept asks the server to take the connection.
func (c *conn) accept() bool {
	n := c.link.node
	if n.Down() {
		return false
	}
	s := &ServerConn{c: c, node: n}
	if s.session = n.server.Accept(s); s.session == nil {
		return false
	}
	c.server = s
	n.conns = append(n.conns, s)
	c.describe, _ = n.server.(Describer)
	c.canonical, _ = n.server.(Canonical)
	if _, early := n.server.(Early); !early && !c.greeted { // it has answered already
		c.immediate, _ = n.server.(Immediate)
	}
	c.still, _ = n.server.(Still)
	_, c.joins = n.server.(Joiner)
	c.w.time.joins = c.w.time.joins || c.joins
	return true
}

func (c *conn) recordSend(dir Direction, b []byte) {
	if c.w.trace.off {
		return
	}
	from, to := c.link.ends(dir)
	switch {
	case b == nil:
		c.w.trace.record(from, to, trace.Close{Conn: c.name()})
	case c.describe != nil:
		c.w.trace.record(from, to, trace.Send{Conn: c.name(), Content: c.describe.Describe(dir, b)})
	default:
		c.w.trace.record(from, to, trace.Send{Conn: c.name(), Content: trace.Bytes(b)})
	}
}

// name names the connection in the trace. Any goroutine may call it.
func (c *conn) name() string { return c.class.Load().name }

// wire plans the arrival of bytes or of the end of the stream, in order.
// For twins it is one event.
func (c *conn) planArrival(dir Direction, b []byte) {
	f := &c.flows[dir]
	if c.dead || f.over {
		return
	}
	f.over = b == nil
	k := c.class.Load()
	at := max(c.w.time.now()+c.link.delay(dir, "data", k.order), f.last+1)
	if k.alone {
		f.last = c.w.time.queue.arrival(at, c, dir, b)
		return
	}
	f.last = c.w.time.queue.join(c.link.where[dir], k.name, at, func() { c.arrive(dir, b) })
}

// arrive delivers bytes, or the end of the stream. It reports whether that has certainly unblocked no goroutine: bytes
// for a server that is [Still] only make it post its answers.
func (c *conn) arrive(dir Direction, b []byte) (still bool) {
	if c.dead {
		return false
	}
	c.flows[dir].bytes -= len(b)
	switch {
	case dir == Down:
		c.arriveAtClient(b)
	default:
		woken := c.client.drained(len(b))
		still = b != nil && !woken && c.still != nil && c.still.Still()
		c.arriveAtServer(b)
		still = still && c.still.Still()
	}
	if b == nil {
		c.ended(dir)
	}
	return still
}

// ended records that the end of a stream has arrived; bytes that its toxics
// have lost are no longer under way. When both ends have arrived the connection
// is over.
func (c *conn) ended(dir Direction) {
	c.flows[dir].heard, c.flows[dir].bytes = true, 0
	if c.flows[Up].heard && c.flows[Down].heard {
		c.kill()
		c.link.remove(c)
	}
}

// arriveAtServer passes bytes, or the end of the stream, to a server: at once,
// or when its stall is over.
func (c *conn) arriveAtServer(b []byte) {
	if b != nil {
		switch {
		case c.client.p.Crashed():
			c.w.rare.Add(rare.OrphanedRequest)
		case c.flows[Up].ended:
			c.w.rare.Add(rare.LateRequest)
		}
	}
	if len(c.w.force.stalls) > 0 {
		c.w.force.whenServed(c.link.node, ofClient, func() { c.serve(b) })
		return
	}
	c.serve(b)
}

// serve passes what has arrived to the server, unless the connection was reset
// while it waited.
func (c *conn) serve(b []byte) {
	switch {
	case c.wasReset:
		c.w.rare.Add(rare.StalledAway)
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
	if b != nil && c.flows[Up].ended {
		c.w.rare.Add(rare.LateAnswer)
	}
	switch {
	case c.w.trace.off:
	case b == nil:
		c.w.trace.record(c.link.p.name, c.link.node.id, trace.EOF{Conn: c.name()})
	default:
		c.w.trace.record(c.link.p.name, c.link.node.id, trace.Receive{Conn: c.name(), Bytes: len(b)})
	}
	c.client.arrived(b)
}

// arriveTooLate handles a reply to a machine that has lost its power. Once
// restarted, the machine does not know the connection and resets it.
func (c *conn) arriveTooLate() {
	c.w.rare.Add(rare.DeadAnswer)
	if c.client.p != c.link.p {
		c.reset()
	}
}

// emit posts the output of a flow's toxics.
func (c *conn) emit(dir Direction, b []byte) {
	f := &c.flows[dir]
	c.w.time.outbox.post(entry{where: c.link.where[dir], rank: rankSend, conn: c, seq: f.nextSeq(),
		dir: dir, data: b, toxified: true})
}

// finish ends the stream to the client.
func (c *conn) finish() { c.post(Down, nil) }

// reset breaks the connection: both ends see ECONNRESET, and bytes under way or
// unread are lost. Clients that wait for a reply wake one by one: if several
// woke at once, their draws from the program's random source, for example,
// would race.
func (c *conn) reset() {
	if c.dead {
		return
	}
	c.w.trace.record(trace.World, c.link.where[Up], trace.Reset{Conn: c.name(), Client: c.link.p.name,
		Server: c.link.node.id})
	if c.flows[Up].bytes > 0 {
		c.w.rare.Add(rare.ResetRequest)
	}
	if c.flows[Down].bytes > 0 {
		c.w.rare.Add(rare.ResetAnswer)
	}
	c.wasReset = true
	c.server.reset()
	c.kill()
	c.link.remove(c)
	c.client.fail()
	c.w.time.queue.join(c.link.where[Down], "reset "+c.name(), c.w.time.now()+1, c.client.wake)
}

// kill ends the connection without notifying either end.
func (c *conn) kill() {
	c.dead = true
	for dir := range c.flows {
		if ch := c.flows[dir].chain; ch != nil {
			ch.kill()
		}
	}
}

func (c *conn) inFlight() int { return c.flows[Up].bytes + c.flows[Down].bytes }
