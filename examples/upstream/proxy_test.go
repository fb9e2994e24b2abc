package upstream

import (
	"net"
	"sync"
	"testing"
)

// gate lets bytes pass once it is open.
type gate struct {
	once sync.Once
	c    chan struct{}
}

func newGate() *gate { return &gate{c: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.c) }) }

// proxy forwards TCP connections to a server, as a network does: each direction of a connection keeps its order, and
// bytes that were sent before a client closed its connection still arrive.
type proxy struct {
	addr string
	done chan struct{}

	mu    sync.Mutex
	conns []net.Conn
}

// hook says of bytes that have just been read from which gate on they, and those after them on this connection, go on.
// They go on at once if it is nil.
type hook func(b []byte) *gate

// startProxy starts a proxy to the server at target until the end of the test. A nil hook holds nothing.
func startProxy(t *testing.T, target string, request, reply hook) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), done: make(chan struct{})}
	var forwarders sync.WaitGroup
	forwarders.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			p.keep(client, server)
			forwarders.Go(func() { p.forward(server, client, request) })
			forwarders.Go(func() { p.forward(client, server, reply) })
		}
	})
	t.Cleanup(func() {
		close(p.done)
		_ = l.Close()
		p.closeAll()
		forwarders.Wait()
	})
	return p
}

func (p *proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conns...)
	select {
	case <-p.done:
		for _, c := range conns {
			_ = c.Close()
		}
	default:
	}
}

func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// forward copies until from ends, and then closes to, but not from: what it was sent is still to be forwarded.
func (p *proxy) forward(to, from net.Conn, h hook) {
	defer func() { _ = to.Close() }()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if h != nil {
				if g := h(b[:n]); g != nil {
					select {
					case <-g.c:
					case <-p.done:
						return
					}
				}
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
