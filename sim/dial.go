package sim

import (
	"cmp"
	"context"
	"net"
	"strconv"

	"locksim/sim/trace"
)

// dialer is one attempt to connect.
type dialer struct {
	p         *Process
	host      host  // what was dialled: a server, or a name that resolves to one
	link      *link // set by start
	began     int64 // the instant of the first start
	remote    net.Addr
	conn      *Conn
	err       error
	done      chan struct{}
	abandoned bool
	greeted   bool
}

// Dial opens a connection to a server, and fits the Dialer of go-redis, rueidis,
// gRPC and others. addr is a server's name, with or without its port, or its
// address. It returns ECONNREFUSED where the server does not listen, the
// context's error when it ends first, [ErrCrashed] when the process is no
// more, and context.Canceled when the run is over. While the link is cut, a
// dial waits. With a context that was cancelled before, and has no deadline, it
// returns at once. A deadline may end in the instant of the call: then it would be a
// race whether the dial has begun, so it has.
func (p *Process) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	h, ok := p.w.net.hosts[addr]
	if !ok {
		return nil, dialError(address(addr), p.w.net.unknownHost(addr))
	}
	if _, limited := ctx.Deadline(); !limited && ctx.Err() != nil && !p.Crashed() {
		return nil, dialError(address(addr), ctx.Err())
	}
	// Goroutines of a client go on dialling after the end, some for minutes of the time in which a world is closed.
	if p.ctx.Err() != nil {
		return nil, dialError(address(addr), cmp.Or(p.gate.pass("dial "+h.name()), p.ctx.Err()))
	}
	if p.early(h) {
		return p.dialEarly(addr, h), nil
	}
	if g := p.w.net.greeted; g != nil && calledBelow(g.GreetedBelow()) {
		return p.dialGreeted(addr, h, g), nil
	}
	return p.dial(ctx, addr, h, false)
}

// dial is Dial to a known host. greeted says that its server must not answer a greeting.
func (p *Process) dial(ctx context.Context, addr string, h host, greeted bool) (net.Conn, error) {
	if err := p.gate.pass("dial " + h.name()); err != nil {
		return nil, dialError(address(addr), err)
	}
	d := &dialer{p: p, host: h, remote: address(addr), greeted: greeted, done: make(chan struct{})}
	d.post(d.start)
	return d.wait(ctx)
}

func (d *dialer) post(commit func()) {
	d.p.w.time.outbox.post(entry{where: d.p.name + ">" + d.host.name(), rank: rankDial, commit: commit})
}

func (d *dialer) wait(ctx context.Context) (net.Conn, error) {
	select {
	case <-d.done:
	case <-ctx.Done():
	case <-d.p.ctx.Done():
	}
	ended := !d.isDone()
	if ended && d.p.ctx.Err() == nil {
		d.linger()
	}
	if err := d.p.gate.pass("dialled " + d.host.name()); err != nil {
		return nil, dialError(d.remote, err)
	}
	if ended { // a connection that has arrived since is not returned: the context of its user is over
		d.post(d.abandon)
		return nil, dialError(d.remote, cmp.Or(ctx.Err(), d.p.ctx.Err()))
	}
	if d.err != nil {
		return nil, d.err
	}
	return d.conn, nil
}

// isDone reports whether the dial has come to its end.
func (d *dialer) isDone() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// linger waits for a nanosecond. A pool of the client may wait for the end of the dial with a time limit of its own:
// when both are over in one instant, the dial's end comes second, or it would be a race.
func (d *dialer) linger() {
	over := make(chan struct{})
	d.post(func() {
		t := d.p.w.time
		t.queue.join(d.p.name, "end of a dial", t.now()+1, func() { t.wakeAfter(over) })
	})
	select {
	case <-over:
	case <-d.p.ctx.Done():
	}
}

// start sends the request to connect. Dials of one process to one server that began in one instant arrive as one event.
// Those that began at different ones do not, also when they have waited for the same link: a client can tell them
// apart.
func (d *dialer) start() {
	if d.p.Crashed() {
		return
	}
	if d.link == nil { // an alias is resolved once
		d.link = d.p.w.net.link(d.p, d.host.resolve(d.p.name))
		d.began = d.p.w.time.now()
	}
	l := d.link
	if len(l.cuts) > 0 {
		l.cuts.felt()
		l.held = append(l.held, d)
		return
	}
	there := l.delay(Up, "dial", 0)
	back := l.delay(Down, "dial", 0)
	l.w.time.queue.join(l.where[Up], "dial of "+strconv.FormatInt(d.began, 10), l.w.time.now()+max(there+back, 1),
		d.arrive)
}

func (d *dialer) arrive() {
	l := d.link
	if d.abandoned || d.p.Crashed() {
		return
	}
	l.node.used.once()
	if len(l.cuts) > 0 || l.node.state == powerless {
		l.cuts.felt()
		l.held = append(l.held, d)
		return
	}
	l.w.time.wakeAfter(d.done)
	c := &conn{w: l.w, link: l, greeted: d.greeted}
	c.class.Store(l.classOf())
	if l.w.force.refuses(l.node) || !c.accept() {
		l.w.trace.record(l.p.name, l.node.id, trace.Refused{})
		d.err = dialError(d.remote, connRefused.of("connect"))
		return
	}
	l.w.trace.record(l.p.name, l.node.id, trace.Connect{})
	c.client = newConn(d.p, c, d.remote)
	d.conn = c.client
	l.conns = append(l.conns, c)
	c.addToxics()
	d.p.sockets.add(c.client)
}

// abandon ends an attempt whose caller has returned.
func (d *dialer) abandon() {
	d.abandoned = true
	if d.conn != nil {
		d.p.w.time.markUnblocked()
		d.conn.c.reset()
	}
}

func dialError(addr net.Addr, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: err}
}
