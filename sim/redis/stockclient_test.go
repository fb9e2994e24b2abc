package redis_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/sim"
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
