package lock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/locktest"
	"locksim/lock/locktest/redisserver"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// member is a kind of lock in the conformance suite.
type member struct {
	name    string
	nodes   int // 0 means 1
	harness locktest.Harness
	make    func(site) (lock.Locker, error)
}

// site is a client machine of a lock: its clients of the nodes, its clock and its sources of randomness.
type site struct {
	nodes []lock.Redis
	opt   lock.Options
}

// The promises of the kinds besides exclusion.
var (
	plainLeases  = locktest.Harness{}
	tokenLeases  = locktest.Harness{Tokens: true}
	renewedPlain = locktest.Harness{Renews: true}
	renewedToken = locktest.Harness{Renews: true, Tokens: true}
	fairPlain    = locktest.Harness{Fair: true}
	fairToken    = locktest.Harness{Fair: true, Tokens: true}
)

// members has a line for each kind, and for each way to wait.
var members = []member{
	{"single", 1, plainLeases, func(s site) (lock.Locker, error) { return lock.NewSingle(s.nodes[0], s.opt) }},
	{"single-notify", 1, plainLeases,
		func(s site) (lock.Locker, error) { return lock.NewSingle(s.nodes[0], s.notified()) }},
	{"fenced", 1, tokenLeases, func(s site) (lock.Locker, error) { return lock.NewFenced(s.nodes[0], s.opt) }},
	{"fenced-notify", 1, tokenLeases,
		func(s site) (lock.Locker, error) { return lock.NewFenced(s.nodes[0], s.notified()) }},
	{"watchdog", 1, renewedPlain, func(s site) (lock.Locker, error) { return watched(lock.NewSingle(s.nodes[0], s.opt)) }},
	{"watchdog-fenced", 1, renewedToken,
		func(s site) (lock.Locker, error) { return watched(lock.NewFenced(s.nodes[0], s.opt)) }},
	{"reentrant", 1, plainLeases, func(s site) (lock.Locker, error) { return lock.NewReentrant(s.nodes[0], s.opt) }},
	{"reentrant-notify", 1, plainLeases,
		func(s site) (lock.Locker, error) { return lock.NewReentrant(s.nodes[0], s.notified()) }},
	{"reentrant-fenced", 1, tokenLeases,
		func(s site) (lock.Locker, error) { return lock.NewReentrantFenced(s.nodes[0], s.opt) }},
	{"fair", 1, fairPlain, func(s site) (lock.Locker, error) { return lock.NewFair(s.nodes[0], s.opt) }},
	{"fair-notify", 1, fairPlain, func(s site) (lock.Locker, error) { return lock.NewFair(s.nodes[0], s.notified()) }},
	{"fair-fenced", 1, fairToken, func(s site) (lock.Locker, error) { return lock.NewFairFenced(s.nodes[0], s.opt) }},
	{"redlock", 5, plainLeases, func(s site) (lock.Locker, error) { return lock.NewRedlock(s.nodes, s.redlock()) }},
	{"redlock-watchdog", 5, renewedPlain,
		func(s site) (lock.Locker, error) { return watched(lock.NewRedlock(s.nodes, s.redlock())) }},
	{"redlock-fenced", 5, tokenLeases,
		func(s site) (lock.Locker, error) { return lock.NewRedlockFenced(s.nodes, s.redlock()) }},
}

func (s site) notified() lock.Options {
	s.opt.Waiting = lock.WaitNotify
	return s.opt
}

// redlock has a long node timeout: a busy machine that runs five nodes is slow.
func (s site) redlock() lock.RedlockOptions {
	return lock.RedlockOptions{Options: s.opt, NodeTimeout: s.opt.TTL / 4}
}

// watched puts a watchdog over the result of a constructor.
func watched[L lock.Locker](inner L, err error) (lock.Locker, error) {
	if err != nil {
		return nil, err
	}
	return lock.NewWatchdog(inner, lock.WatchdogOptions{})
}

// newSite creates a machine whose connections to the nodes at addrs go through wire.
func newSite(wire *locktest.Wire, addrs []string, opt lock.Options, keep func(*redis.Client)) site {
	s := site{opt: opt}
	for _, addr := range addrs {
		o := redisclient.Quiet()
		o.Addr, o.Dialer, o.ContextTimeoutEnabled = addr, wire.Dial, true
		c := redis.NewClient(o)
		keep(c)
		s.nodes = append(s.nodes, c)
	}
	return s
}

// prefix separates the keys of different kinds on the same servers.
func (m member) prefix() string { return m.name + ":" }

// world is a world of machines with locks of a kind, and an administrator with access to the nodes.
func (m member) world(newSite func(client int, wire *locktest.Wire) site, dial func(client int) locktest.Dial,
	admin []*redis.Client) locktest.World {
	return locktest.World{
		New: func(t testing.TB, client int) locktest.Client {
			t.Helper()
			wire := locktest.NewWire(dial(client))
			l, err := m.make(newSite(client, wire))
			if err != nil {
				t.Fatal(err)
			}
			return locktest.Client{Locker: l, Wire: wire}
		},
		Left: func(t testing.TB, resource string) []string {
			t.Helper()
			return m.leftAt(t, admin, resource)
		},
		Forget: func(t testing.TB, resource string) {
			t.Helper()
			for _, c := range admin {
				for _, key := range m.leftAt(t, []*redis.Client{c}, resource) {
					if err := c.Del(context.Background(), key).Err(); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
	}
}

// leftAt lists the keys of a resource on all nodes, without the counters of tokens.
func (m member) leftAt(t testing.TB, admin []*redis.Client, resource string) (left []string) {
	t.Helper()
	for _, c := range admin {
		keys, err := c.Keys(context.Background(), m.prefix()+"{"+resource+"}*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if !strings.HasSuffix(key, ":token") {
				left = append(left, key)
			}
		}
	}
	return left
}

// TestConformanceInTheWorld runs the suite on simulated nodes in virtual time.
func TestConformanceInTheWorld(t *testing.T) {
	const ttl = 10 * time.Second
	for _, m := range members {
		t.Run(m.name, func(t *testing.T) {
			h := m.harness
			h.TTL, h.Slack = ttl, time.Second
			h.Fresh = func(t testing.TB, test func(locktest.World)) {
				t.Helper()
				_, err := sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{simredis.Servers{Nodes: m.nodes}}, Clients: 4,
					Untraced: true}, func(w *sim.World) error {
					admin := w.NewProcess("admin")
					admin.Go(func() { test(m.simulated(w, admin, ttl)) })
					return w.RunUntil(w.Idle)
				})
				if err != nil {
					t.Error(err)
				}
			}
			locktest.Run(t, h)
		})
	}
}

// simulated is the suite's view of a simulated world.
func (m member) simulated(w *sim.World, admin *sim.Process, ttl time.Duration) locktest.World {
	var addrs []string
	var admins []*redis.Client
	for _, n := range w.Nodes() {
		addrs = append(addrs, n.Address())
		admins = append(admins, redisclient.New(admin, n.Name()))
	}
	return m.world(
		func(client int, wire *locktest.Wire) site {
			p := w.Client(client)
			return newSite(wire, addrs, lock.Options{
				TTL: ttl, KeyPrefix: m.prefix(), Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Rand("lock"),
			}, func(c *redis.Client) { p.OnEnd(func() { _ = c.Close() }) })
		},
		func(client int) locktest.Dial { return w.Client(client).Dial },
		admins)
}

// TestConformanceOnRedis runs the same suite on real servers.
func TestConformanceOnRedis(t *testing.T) {
	soak.RealTime(t)
	const ttl = 1500 * time.Millisecond
	servers := redisserver.StartN(t, 5)
	var all sync.WaitGroup // not t.Parallel: that runs one per processor, and these mostly wait
	for _, m := range members {
		all.Go(func() {
			t.Run(m.name, func(t *testing.T) {
				h := m.harness
				h.TTL, h.Together = ttl, 4
				h.World = m.live(t, servers[:max(m.nodes, 1)], ttl)
				locktest.Run(t, h)
			})
		})
	}
	all.Wait()
}

// live is the suite's view of real servers.
func (m member) live(t testing.TB, servers []*redisserver.Server, ttl time.Duration) locktest.World {
	keep := func(c *redis.Client) { t.Cleanup(func() { _ = c.Close() }) }
	var addrs []string
	var admins []*redis.Client
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
		o := redisclient.Quiet()
		o.Addr = s.Addr()
		c := redis.NewClient(o)
		keep(c)
		admins = append(admins, c)
	}
	return m.world(
		func(_ int, wire *locktest.Wire) site {
			return newSite(wire, addrs, lock.Options{
				TTL: ttl, KeyPrefix: m.prefix(), ReleaseTimeout: ttl,
				Backoff: lock.Backoff{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond},
			}, keep)
		},
		func(int) locktest.Dial { return nil },
		admins)
}
