package zookeeper

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Machine is where a client runs: a [locksim/sim.Process], the environment of a lock under test, or anything else that
// can dial.
type Machine interface {
	// Address is the address under which a server ("z0", "leader") is dialled.
	Address(server string) string
	// Dial opens a connection.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// OnEnd registers a function to call at the end of the run.
	OnEnd(func())
}

// Connect makes a connection to these servers, which are tried in this order, with a session of this timeout, and no
// log. It is closed at the end of the run. observe, which may be nil, is called with each event of the session; it must
// not block.
func Connect(m Machine, timeout time.Duration, observe zk.EventCallback, servers ...string) (*zk.Conn, error) {
	return ConnectBy(Dialer(m), m, timeout, observe, servers...)
}

// ConnectBy is Connect with another dialer, which dials by [Dialer].
func ConnectBy(dial zk.Dialer, m Machine, timeout time.Duration, observe zk.EventCallback,
	servers ...string) (*zk.Conn, error) {
	list := &hosts{next: -1, tried: -1}
	for _, name := range servers {
		list.addresses = append(list.addresses, m.Address(name))
	}
	if observe == nil {
		observe = func(zk.Event) {}
	}
	c, _, err := zk.Connect(list.addresses, timeout, zk.WithHostProvider(list), zk.WithLogger(silent{}),
		zk.WithLogInfo(false),
		zk.WithEventCallback(observe), zk.WithDialer(dial))
	if err != nil {
		return nil, err
	}
	m.OnEnd(c.Close)
	return c, nil
}

// Dialer is that of a machine, for a client that is to be repeatable. The client has a loop that sends requests and
// pings: when a write has kept it waiting, as while the process is paused, a ping and a request may be due at once, and
// the scheduler would choose between them. So a write is done when the connection has taken it, as the kernel does, and
// what it has taken is sent in order. Of pings that wait one is sent, as the client would.
func Dialer(m Machine) zk.Dialer {
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout) //nolint:forbidigo // it is in the bubble
		defer cancel()
		c, err := m.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &buffered{Conn: c}, nil
	}
}

// buffered is a connection whose writes do not wait.
type buffered struct {
	net.Conn

	mu      sync.Mutex
	queue   [][]byte // to be sent
	sending bool
	failed  error
}

// Write implements [net.Conn]. Its error may be that of an earlier write.
func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return 0, b.failed
	}
	waits := func(q []byte) bool { return bytes.Equal(q, p) }
	if !isPing(p) || !slices.ContainsFunc(b.queue, waits) {
		b.queue = append(b.queue, bytes.Clone(p))
	}
	if !b.sending {
		b.sending = true
		go b.send()
	}
	return len(p), nil
}

func isPing(p []byte) bool {
	message, _, err := cut(p)
	return err == nil && len(message) == 8 && op(binary.BigEndian.Uint32(message[4:])) == opPing
}

// send sends what was written, until there is nothing more.
func (b *buffered) send() {
	for p := b.next(); p != nil; p = b.next() {
		if _, err := b.Conn.Write(p); err != nil {
			b.mu.Lock()
			b.failed, b.queue = err, nil
			b.mu.Unlock()
			return
		}
	}
}

// next takes what is to be sent next. It is nil when there is nothing.
func (b *buffered) next() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.sending = false
		return nil
	}
	p := b.queue[0]
	b.queue = b.queue[1:]
	return p
}

// SetWriteDeadline implements [net.Conn]: a write takes no time.
func (b *buffered) SetWriteDeadline(time.Time) error { return nil }

// hosts has addresses in a fixed order. The client's own list shuffles them, and looks their names up.
type hosts struct {
	addresses   []string
	next, tried int
}

// Init implements [zk.HostProvider]: the client has shuffled its list.
func (h *hosts) Init([]string) error { return nil }

// Len implements [zk.HostProvider].
func (h *hosts) Len() int { return len(h.addresses) }

// Next implements [zk.HostProvider]: retry says that all of them were tried since the last connection.
func (h *hosts) Next() (address string, retry bool) {
	h.next = (h.next + 1) % len(h.addresses)
	retry = h.next == h.tried
	if h.tried < 0 {
		h.tried = 0
	}
	return h.addresses[h.next], retry
}

// Connected implements [zk.HostProvider].
func (h *hosts) Connected() { h.tried = h.next }

// silent is a log that is not written.
type silent struct{}

func (silent) Printf(string, ...any) {}
