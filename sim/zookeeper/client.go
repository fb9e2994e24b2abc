package zookeeper

import (
	"context"
	"net"
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

// Connect makes a connection to these servers, which are tried in this order, with a session of this timeout, and no log.
// It is closed at the end of the run. observe, which may be nil, is called with each event of the session; it must not
// block.
func Connect(m Machine, timeout time.Duration, observe zk.EventCallback, servers ...string) (*zk.Conn, error) {
	list := &hosts{next: -1, tried: -1}
	for _, name := range servers {
		list.addresses = append(list.addresses, m.Address(name))
	}
	if observe == nil {
		observe = func(zk.Event) {}
	}
	c, _, err := zk.Connect(list.addresses, timeout, zk.WithHostProvider(list), zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithEventCallback(observe), zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			return m.Dial(ctx, network, address)
		}))
	if err != nil {
		return nil, err
	}
	m.OnEnd(c.Close)
	return c, nil
}

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
