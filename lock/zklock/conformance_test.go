package zklock_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"locksim/internal/soak"
	"locksim/internal/zkserver"
	"locksim/lock/locktest"
	"locksim/lock/zklock"
	"locksim/sim"
	"locksim/sim/zookeeper"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wired is a client machine of the world whose connections go through a wire.
type wired struct {
	*sim.Process
	wire *locktest.Wire
}

func (m wired) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return m.wire.Dial(ctx, network, addr)
}

// names are those of so many servers.
func names(servers int) []string { return []string{"z0", "z1", "z2"}[:servers] }

// TestConformanceInTheWorld runs the suite on simulated servers in virtual time. A client notices a lost message when
// it has heard nothing for two thirds of the session timeout.
func TestConformanceInTheWorld(t *testing.T) {
	const ttl = 20 * time.Second
	for _, servers := range []int{1, 3} {
		h := locktest.Harness{TTL: ttl, Slack: 20 * time.Second, Tokens: true, Renews: true}
		h.Fresh = func(t testing.TB, test func(locktest.World)) {
			t.Helper()
			cfg := sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{Count: servers}}, Clients: 4, Untraced: true}
			_, err := sim.Run(cfg, func(w *sim.World) error {
				admin := w.NewProcess("admin")
				admin.Go(func() { test(simulated(t, w, admin, servers, ttl)) })
				return w.RunUntil(w.Idle)
			})
			if err != nil {
				t.Error(err)
			}
		}
		t.Run([]string{1: "one server", 3: "three servers"}[servers], func(t *testing.T) { locktest.Run(t, h) })
	}
}

// simulated is the suite's view of a simulated world.
func simulated(t testing.TB, w *sim.World, admin *sim.Process, servers int, ttl time.Duration) locktest.World {
	t.Helper()
	return world(connect(t, admin, ttl, servers), func(t testing.TB, i int) locktest.Client {
		t.Helper()
		p := w.Client(i)
		wire := locktest.NewWire(p.Dial)
		l, err := zklock.New(connect(t, wired{p, wire}, ttl, servers), zklock.Options{SessionTimeout: ttl, Clock: p.Clock()})
		if err != nil {
			t.Fatal(err)
		}
		return locktest.Client{Locker: l, Wire: wire}
	})
}

func connect(t testing.TB, m zookeeper.Machine, ttl time.Duration, servers int) *zk.Conn {
	t.Helper()
	c, err := zookeeper.Connect(m, ttl, nil, names(servers)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// world is the suite's view of a ZooKeeper.
func world(admin *zk.Conn, client func(t testing.TB, i int) locktest.Client) locktest.World {
	queue := func(resource string) string { return zklock.Options{}.Queue(resource) }
	children := func(t testing.TB, resource string) []string {
		t.Helper()
		if _, err := admin.Sync("/"); err != nil {
			t.Fatal(err)
		}
		nodes, _, err := admin.Children(queue(resource))
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
		return nodes
	}
	return locktest.World{
		New:  client,
		Left: children,
		Forget: func(t testing.TB, resource string) {
			t.Helper()
			for _, name := range children(t, resource) {
				if err := admin.Delete(queue(resource)+"/"+name, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
					t.Fatal(err)
				}
			}
		},
	}
}

// machine is this machine, with the addresses of real servers.
type machine struct {
	t         testing.TB
	addresses []string
	dial      locktest.Dial
}

func (m *machine) Address(server string) string {
	i, err := strconv.Atoi(strings.TrimPrefix(server, "z"))
	if err != nil {
		m.t.Fatal(err)
	}
	return m.addresses[i]
}

func (m *machine) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return m.dial(ctx, network, addr)
}

func (m *machine) OnEnd(f func()) { m.t.Cleanup(f) }

// TestConformanceOnRealServers is the same on real ones, one and three.
func TestConformanceOnRealServers(t *testing.T) {
	soak.RealTime(t)
	const (
		tick = 200 * time.Millisecond
		ttl  = 15 * tick
	)
	for _, servers := range []int{1, 3} {
		t.Run([]string{1: "one server", 3: "three servers"}[servers], func(t *testing.T) {
			addresses := zkserver.Start(t, servers, tick)
			dial := (&net.Dialer{}).DialContext
			admin := connect(t, &machine{t, addresses, dial}, ttl, servers)
			h := locktest.Harness{TTL: ttl, Tokens: true, Renews: true, Together: 8,
				World: world(admin, func(t testing.TB, _ int) locktest.Client {
					t.Helper()
					wire := locktest.NewWire(dial)
					l, err := zklock.New(connect(t, &machine{t, addresses, wire.Dial}, ttl, servers),
						zklock.Options{SessionTimeout: ttl, Tick: tick})
					if err != nil {
						t.Fatal(err)
					}
					return locktest.Client{Locker: l, Wire: wire}
				})}
			locktest.Run(t, h)
		})
	}
}
