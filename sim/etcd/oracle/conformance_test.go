package oracle_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/internal/soak"
	"locksim/lock/etcdlock"
	"locksim/lock/locktest"
)

// The lock on etcd keeps the promises of every lock on the real server, in a bubble. A connection that loses a message
// is broken, and gRPC notices that after 10 s, so leases are long.
func TestConformanceInABubble(t *testing.T) {
	const ttl = 60 * time.Second
	h := locktest.Harness{TTL: ttl, Slack: 30 * time.Second, Tokens: true, Renews: true}
	h.Fresh = func(t testing.TB, test func(locktest.World)) {
		t.Helper()
		inBubble(t, func(dial dialer) {
			w := world(dial(t, nil))
			w.New = func(t testing.TB, _ int) locktest.Client {
				t.Helper()
				var wire *locktest.Wire
				c := dial(t, func(d locktest.Dial) locktest.Dial {
					wire = locktest.NewWire(d)
					return wire.Dial
				})
				return locktest.Client{Locker: locker(t, c, ttl), Wire: wire}
			}
			test(w)
		})
	}
	locktest.Run(t, h)
}

// The same on three real members. Without a wire: gRPC needs 10 s to notice a connection that has lost a message.
func TestConformanceOnRealMembers(t *testing.T) {
	soak.RealTime(t)
	const ttl = 2 * time.Second
	c := cluster(t)
	h := locktest.Harness{TTL: ttl, Tokens: true, Renews: true, Together: 8, World: world(c)}
	h.World.New = func(t testing.TB, _ int) locktest.Client {
		t.Helper()
		return locktest.Client{Locker: locker(t, c, ttl)}
	}
	locktest.Run(t, h)
}

func locker(t testing.TB, c *clientv3.Client, ttl time.Duration) *etcdlock.Lock {
	t.Helper()
	l, err := etcdlock.New(c, etcdlock.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// world is the suite's view of a cluster, without its clients.
func world(admin *clientv3.Client) locktest.World {
	queue := func(resource string) string { return etcdlock.Options{}.Queue(resource) }
	return locktest.World{
		Left: func(t testing.TB, resource string) (left []string) {
			t.Helper()
			r, err := admin.Get(context.Background(), queue(resource), clientv3.WithPrefix(), clientv3.WithKeysOnly())
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
			if _, err := admin.Delete(context.Background(), queue(resource), clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		},
	}
}
