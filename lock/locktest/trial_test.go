package locktest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// ttl is that of all locks in these tests. Time is virtual.
const ttl = 10 * time.Second

// machine has the parts of a lock in these tests.
type machine struct {
	client int
	node   *redis.Client
	opt    lock.Options
}

// must returns the lock of a constructor, and panics if it failed.
func must[L lock.Locker](l L, err error) lock.Locker {
	if err != nil {
		panic(err)
	}
	return l
}

// onSimNode returns a harness for a lock on one simulated node.
func onSimNode(h Harness, build func(machine) lock.Locker) Harness {
	h.TTL, h.Slack = ttl, time.Second
	h.Fresh = func(t testing.TB, test func(World)) {
		t.Helper()
		_, err := sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{simredis.Servers{}}, Clients: clients, Untraced: true},
			func(w *sim.World) error {
				admin := w.NewProcess("admin")
				admin.Go(func() { test(newWorld(w, redisclient.New(admin, "r0"), build)) })
				return w.RunUntil(w.Idle)
			})
		if err != nil {
			t.Error(err)
		}
	}
	return h
}

func newWorld(w *sim.World, admin *redis.Client, build func(machine) lock.Locker) World {
	ctx := context.Background()
	left := func(t testing.TB, resource string) (left []string) {
		for _, key := range admin.Keys(ctx, "lock:{"+resource+"}*").Val() {
			if !strings.HasSuffix(key, ":token") {
				left = append(left, key)
			}
		}
		return left
	}
	return World{
		New: func(t testing.TB, client int) Client {
			p := w.Client(client)
			wire := NewWire(p.Dial)
			o := redisclient.Quiet()
			o.Addr, o.Dialer, o.ContextTimeoutEnabled = p.Address("r0"), wire.Dial, true
			node := redis.NewClient(o)
			p.OnEnd(func() { _ = node.Close() })
			opt := lock.Options{TTL: ttl, Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Rand("lock")}
			return Client{Locker: build(machine{client: client, node: node, opt: opt}), Wire: wire}
		},
		Left: left,
		Forget: func(t testing.TB, resource string) {
			for _, key := range left(t, resource) {
				admin.Del(ctx, key)
			}
		},
	}
}
