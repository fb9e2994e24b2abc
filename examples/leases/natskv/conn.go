package natskv

import (
	"bytes"
	"context"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"locksim/scenarios"
	simnats "locksim/sim/nats"
)

// Connect connects an unmodified client of NATS in the world. It asks after a sixth of a TTL whether the server is
// still there, and connects anew when that has no answer for as long, for ever: by default it would take four minutes
// to notice a connection that is lost. The client is closed with the run.
func Connect(e scenarios.Env) (*nats.Conn, error) {
	often := e.Spec().TTL / 6
	nc, err := nats.Connect("nats://"+e.Address(simnats.Node), nats.Name(e.Name()), nats.SkipHostLookup(),
		nats.SetCustomDialer(dialer{e}),
		nats.PingInterval(often), nats.MaxPingsOutstanding(1), nats.MaxReconnects(-1), nats.ReconnectWait(often),
		nats.ReconnectJitter(0, 0))
	if err != nil {
		return nil, err
	}
	e.OnEnd(nc.Close)
	return nc, nil
}

// dialer makes connections that are there at once. The client keeps a mutex while it connects and exchanges the first
// messages with the server; virtual time would stand still as soon as another goroutine of the client wants it. So the
// greeting is answered here, and the client learns that the server cannot be reached when it reads.
type dialer struct{ env scenarios.Env }

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, addr string) (net.Conn, error) {
	c := &conn{greeting: []byte(info + pong), more: make(chan struct{}, 1), sends: make(chan struct{}, 1),
		addr: greeted(addr)}
	ctx, cancel := context.WithCancel(d.env.Context())
	c.cancel = cancel
	go c.connect(ctx, func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, nats.DefaultTimeout)
		defer cancel()
		return d.env.Dial(ctx, network, addr)
	})
	return c, nil
}

// The greeting of the server, as far as a client uses it, and its answer to the first PING.
const (
	info = `INFO {"server_id":"greeting","server_name":"n0","version":"2.15.2","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}` + "\r\n"
	pong = "PONG\r\n"
)

// greeted is an address whose server has greeted.
type greeted string

// Network implements [net.Addr].
func (greeted) Network() string { return "tcp" }

// String implements [net.Addr].
func (a greeted) String() string { return string(a) }

// conn is a connection that greets by itself. What is written waits until the real one is made.
type conn struct {
	addr   greeted
	cancel context.CancelFunc
	more   chan struct{} // there is something to read
	sends  chan struct{} // there is something to send

	mu       sync.Mutex
	greeting []byte
	in, out  []byte
	real     net.Conn
	err      error
}

// connect makes the real connection, and sends and receives until it ends.
func (c *conn) connect(ctx context.Context, dial func(context.Context) (net.Conn, error)) {
	defer c.cancel()
	real, err := dial(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	c.mu.Lock()
	c.real = real
	c.mu.Unlock()
	defer context.AfterFunc(ctx, func() { _ = real.Close() })()
	go c.receive(real)
	for {
		c.mu.Lock()
		b := c.out
		c.out = nil
		c.mu.Unlock()
		if len(b) > 0 {
			if _, err := real.Write(b); err != nil {
				c.fail(err)
				return
			}
		}
		select {
		case <-c.sends:
		case <-ctx.Done():
			c.fail(net.ErrClosed)
			return
		}
	}
}

// receive reads what the server sends, without its greeting: the first line, and the first PONG.
func (c *conn) receive(real net.Conn) {
	b, before := make([]byte, 32<<10), []byte{}
	for lines := 2; ; {
		n, err := real.Read(b)
		got := b[:n]
		if lines > 0 {
			before = append(before, got...)
			got = nil
			for lines > 0 {
				_, rest, whole := bytes.Cut(before, []byte("\r\n"))
				if !whole {
					break
				}
				before = rest
				if lines--; lines == 0 {
					got = before
				}
			}
		}
		c.mu.Lock()
		c.in = append(c.in, got...)
		c.mu.Unlock()
		if err != nil {
			c.fail(err)
			return
		}
		c.wake()
	}
}

func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.cancel()
	c.wake()
}

func (c *conn) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// Read implements [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		from := &c.in
		if len(c.greeting) > 0 {
			from = &c.greeting
		}
		n := copy(b, *from)
		*from = (*from)[n:]
		err := c.err
		c.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if err != nil {
			c.wake() // for the next call
			return 0, err
		}
		<-c.more
	}
}

// Write implements [net.Conn]. It never waits.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.out = append(c.out, b...)
	select {
	case c.sends <- struct{}{}:
	default:
	}
	return len(b), nil
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.fail(net.ErrClosed)
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return c.addr }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return c.addr }

// SetDeadline implements [net.Conn]. No call waits for long where the client sets one.
func (c *conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
