package sim

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"
	"syscall"
)

// dialer is one attempt at a connection.
type dialer struct {
	p         *Process
	host      host
	link      *link // found by start
	remote    net.Addr
	conn      *Conn
	err       error
	done      chan struct{}
	abandoned bool
}

// Dial opens a connection to a node, and fits the Dialer of go-redis, rueidis,
// gRPC and others. addr is a node's name, with or without its port, or its
// address. It returns ECONNREFUSED where the node does not listen, the
// context's error when it ends first, [ErrCrashed] when the process is no
// more, and context.Canceled when the run is over. While the link is cut, a
// dial waits.
func (p *Process) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	h, ok := p.w.hosts[addr]
	if !ok {
		return nil, dialError(address(addr), p.w.noHost(addr))
	}
	if err := p.gate.pass("dial " + h.name()); err != nil {
		return nil, dialError(address(addr), err)
	}
	d := &dialer{p: p, host: h, remote: address(addr), done: make(chan struct{})}
	d.post(d.start)
	return d.wait(ctx)
}

func (d *dialer) post(commit func()) {
	d.p.w.out.post(entry{where: d.p.name + ">" + d.host.name(), rank: rankDial, commit: commit})
}

// Dialer is [Process.Dial] as a value, for options that want a function. A
// go-redis client is better made by [Process.RedisWith]: of one that is made
// with this dialer the world does not know the pool, which [World.ExhaustPool]
// then spares, and which must never be exhausted where runs follow each other
// in one program: go-redis keeps timers of one run for the next, at which the
// Go runtime ends the program.
func (p *Process) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return p.Dial
}

func (d *dialer) wait(ctx context.Context) (net.Conn, error) {
	select {
	case <-d.done:
	case <-ctx.Done():
	case <-d.p.ctx.Done():
	}
	if err := d.p.gate.pass("dialled " + d.host.name()); err != nil {
		return nil, dialError(d.remote, err)
	}
	select {
	case <-d.done:
		if d.err != nil {
			return nil, d.err
		}
		return d.conn, nil
	default:
		d.post(d.abandon)
		return nil, dialError(d.remote, cmp.Or(ctx.Err(), d.p.ctx.Err()))
	}
}

// start sends the request to connect. Dials of one process to one node in one
// instant arrive as one event.
func (d *dialer) start() {
	if d.p.Crashed() {
		return
	}
	if d.link == nil { // a name that moves is looked up once
		d.link = d.p.w.linkOf(d.p, d.p.w.leads(d.p, d.host))
	}
	l := d.link
	if l.cuts > 0 {
		l.held = append(l.held, d)
		return
	}
	there := l.delay(Up, "dial", 0)
	back := l.delay(Down, "dial", 0)
	l.w.queue.join(l.where[Up], "dial", l.w.now()+max(there+back, 1), d.arrive)
}

func (d *dialer) arrive() {
	l := d.link
	if d.abandoned || d.p.Crashed() {
		return
	}
	if l.cuts > 0 || dark(l.host) {
		l.held = append(l.held, d)
		return
	}
	l.w.wakeAfter(d.done)
	c := &conn{w: l.w, link: l}
	c.class.Store(l.classOf())
	if !l.w.refuses(l.host) {
		c.server = l.host.accept(c)
	}
	if c.server == nil {
		l.w.record(l.p.name, "refused", l.host.name(), "")
		d.err = dialError(d.remote, os.NewSyscallError("connect", syscall.ECONNREFUSED))
		return
	}
	l.w.record(l.p.name, "connect", l.host.name(), "")
	c.client = newConn(d.p, c, d.remote)
	d.conn = c.client
	l.conns = append(l.conns, c)
	c.addToxics()
	d.p.keep(c.client)
}

// abandon gives up an attempt whose caller has gone.
func (d *dialer) abandon() {
	d.abandoned = true
	if d.conn != nil {
		d.p.w.stir()
		d.conn.c.reset()
	}
}

func (p *Process) keep(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
}

// forget drops a connection that is over.
func (p *Process) forget(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.conns, c); i >= 0 {
		p.conns = slices.Delete(p.conns, i, i+1)
	}
}

func dialError(addr net.Addr, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: err}
}
