package etcdlock_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"locksim/lock/etcdlock"
	"locksim/lock/locktest"
	"locksim/sim"
	"locksim/sim/etcd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a client machine of the world whose connections go through a wire.
type machine struct {
	*sim.Process
	wire *locktest.Wire
}

func (m machine) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return m.wire.Dial(ctx, network, addr)
}

// TestConformanceInTheWorld runs the suite on simulated clusters in virtual time.
//
// A connection that loses a message is broken, and gRPC notices that by its own pings, the first after 10 s: so leases
// are long.
func TestConformanceInTheWorld(t *testing.T) {
	const ttl = 60 * time.Second
	for _, members := range []int{1, 3} {
		h := locktest.Harness{TTL: ttl, Slack: 30 * time.Second, Tokens: true, Renews: true}
		h.Fresh = func(t testing.TB, test func(locktest.World)) {
			t.Helper()
			cfg := sim.Config{Seed: 1, Servers: []sim.Kind{etcd.Servers{Members: members}}, Clients: 4, Untraced: true}
			_, err := sim.Run(cfg, func(w *sim.World) error {
				admin := w.NewProcess("admin")
				admin.Go(func() { test(simulated(t, w, admin, members, ttl)) })
				return w.RunUntil(w.Idle)
			})
			if err != nil {
				t.Error(err)
			}
		}
		t.Run([]string{1: "one member", 3: "three members"}[members], func(t *testing.T) { locktest.Run(t, h) })
	}
}

// simulated is the suite's view of a simulated world.
func simulated(t testing.TB, w *sim.World, admin *sim.Process, members int, ttl time.Duration) locktest.World {
	t.Helper()
	names := []string{"e0", "e1", "e2"}[:members]
	client := func(m etcd.Machine) *clientv3.Client {
		cfg := clientv3.Config{DialOptions: etcd.DialOptions(), DialKeepAliveTime: 10 * time.Second,
			DialKeepAliveTimeout: time.Second}
		c, err := etcd.ClientWith(m, cfg, names...)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	cluster := client(admin)
	queue := func(resource string) string { return etcdlock.Options{}.Queue(resource) }
	return locktest.World{
		New: func(t testing.TB, i int) locktest.Client {
			t.Helper()
			p := w.Client(i)
			wire := locktest.NewWire(p.Dial)
			l, err := etcdlock.New(client(machine{p, wire}), etcdlock.Options{TTL: ttl, Clock: p.Clock()})
			if err != nil {
				t.Fatal(err)
			}
			return locktest.Client{Locker: l, Wire: wire}
		},
		Left: func(t testing.TB, resource string) (left []string) {
			t.Helper()
			r, err := cluster.Get(context.Background(), queue(resource), clientv3.WithPrefix(), clientv3.WithKeysOnly())
			if err != nil {
				t.Fatal(err)
			}
			for _, kv := range r.Kvs {
				left = append(left, strings.TrimPrefix(string(kv.Key), etcdlock.DefaultPrefix))
			}
			return left
		},
		Forget: func(t testing.TB, resource string) {
			t.Helper()
			if _, err := cluster.Delete(context.Background(), queue(resource), clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		},
	}
}
