package redis_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// A client with the default options asks the server for maintenance notifications on each connection, and keeps a mutex
// until it has the answer. Commands on several connections at once do not freeze the world, also around a pause.
func TestClientWithDefaults(t *testing.T) {
	for seed := range uint64(20) {
		cfg := served(sim.Config{Seed: seed, Limits: sim.Limits{Frozen: 2 * time.Second}})
		errs := make([]error, 8)
		_, err := sim.Run(cfg, func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				client := redis.NewClient(&redis.Options{Addr: p.Address("r0"), Dialer: p.Dial})
				p.OnEnd(func() { _ = client.Close() })
				var all sync.WaitGroup
				for i := range errs {
					all.Go(func() {
						_ = p.Clock().Sleep(p.Context(), time.Duration(i)*1300*time.Microsecond)
						errs[i] = client.Set(p.Context(), "k", i, 0).Err()
					})
				}
				all.Wait()
			})
			w.At(time.Duration(seed)*time.Millisecond, func() { must(t, w.Faults().Pause("c0", 20*time.Millisecond)) })
			return w.RunFor(10 * time.Second)
		})
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			t.Fatalf("seed %d: %v", seed, first)
		}
		for i, err := range errs {
			if err != nil {
				t.Errorf("seed %d: command %d: %v", seed, i, err)
			}
		}
	}
}

// A host name as the address of a client is an error of its commands, in each run of the program: names of servers and
// their addresses are all that can be dialled in the world.
func TestHostNameAsAddress(t *testing.T) {
	for _, addr := range []string{"localhost:6379", "redis:6379", "redis.example:6379", "", "r0:6379"} {
		for _, ours := range []bool{true, false} {
			if !ours && !strings.HasPrefix(addr, "redis") {
				continue // a real server may listen there
			}
			for range 2 {
				var err error
				run(t, sim.Config{}, func(w *sim.World) error {
					p := w.Client(0)
					p.Go(func() {
						opt := &redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1}
						if ours {
							opt.Dialer = p.Dial
						}
						client := redis.NewClient(opt)
						p.OnEnd(func() { _ = client.Close() })
						err = client.Ping(p.Context()).Err()
					})
					return w.RunFor(10 * time.Second)
				})
				want := "this world has r0"
				switch {
				case addr == "r0:6379":
					if err != nil {
						t.Errorf("%q: %v", addr, err)
					}
					continue
				case !ours:
					want = "no name is looked up"
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q, dialer of the world %v: got %v, want an error with %q", addr, ours, err, want)
				}
			}
		}
	}
}

// HELLO says the version whose commands the servers have, and what the server is; in RESP3 streams are read as a map.
func TestHello(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		withClient(t, sim.Config{Servers: []sim.Kind{simredis.Servers{Replicas: 1}}}, func(c *client) {
			for server, role := range map[string]string{"r0": "master", "r0a": "replica"} {
				opt := redisclient.Quiet()
				opt.Addr, opt.Protocol = c.p.Address(server), protocol
				conn := redisclient.With(c.p, opt).Conn()
				hello, err := conn.Hello(c.ctx, protocol, "", "", "").Result()
				if err != nil || hello["server"] != "redis" || hello["version"] != "7.0.15" || hello["role"] != role ||
					hello["proto"] != int64(protocol) || hello["mode"] != "standalone" || len(hello["modules"].([]any)) != 0 {
					t.Errorf("%s: %v, %v", server, hello, err)
				}
				if err := conn.Hello(c.ctx, 4, "", "", "").Err(); err == nil || !strings.Contains(err.Error(), "NOPROTO") {
					t.Errorf("HELLO 4: %v", err)
				}
				_ = conn.Close()
			}
		})
	}
	withClient(t, sim.Config{}, func(c *client) {
		raw := c.raw()
		raw.want("HELLO 3\r\n",
			"%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:42\r\n"+
				"$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n")
		raw.want("XADD s 1-1 a b\r\n", "$3\r\n1-1\r\n")
		raw.want("XADD t 1-2 a b\r\n", "$3\r\n1-2\r\n")
		const s, u = "$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n",
			"$1\r\nt\r\n*1\r\n*2\r\n$3\r\n1-2\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
		raw.want("XREAD STREAMS s t 0 0\r\n", "%2\r\n"+s+u)
		raw.want("XREAD BLOCK 0 STREAMS s 0\r\n", "%1\r\n"+s)
		raw.want("XREAD STREAMS s 1-1\r\n", "_\r\n")
		raw.want("HELLO 2\r\nXREAD STREAMS s 0\r\n",
			"*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:42\r\n"+
				"$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n*1\r\n*2\r\n"+s)
	})
}
