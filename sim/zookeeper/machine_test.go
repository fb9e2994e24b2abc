package zookeeper_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"

	"locksim/sim"
)

// tapped is a machine of the world whose connections are noted.
type tapped struct {
	*sim.Process

	dialled func(net.Conn)
}

func (m tapped) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := m.Process.Dial(ctx, network, addr)
	if err == nil {
		m.dialled(c)
	}
	return c, err
}

// machine is this machine, with the addresses of real servers.
type machine struct {
	t         *testing.T
	addresses []string
	dialled   func(net.Conn)
}

func (m *machine) Address(server string) string {
	i, err := strconv.Atoi(strings.TrimPrefix(server, "z"))
	if err != nil {
		m.t.Fatal(err)
	}
	return m.addresses[i]
}

func (m *machine) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err == nil {
		m.dialled(c)
	}
	return c, err
}

func (m *machine) OnEnd(f func()) { m.t.Cleanup(f) }
