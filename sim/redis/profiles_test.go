package redis_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// stock returns a client of r0 with the default options.
func stock(p *sim.Process) *redis.Client {
	opt := redisclient.Stock()
	opt.Addr = p.Address("r0")
	return redisclient.With(p, opt)
}

// executed are the commands that a node has executed, without the replies.
func executed(res *sim.Result, node string) []string {
	var out []string
	for _, e := range res.Trace.Events {
		if command, _, ok := strings.Cut(e.Text(), " -> "); ok && e.Actor == node && e.Kind() == "exec" {
			out = append(out, command)
		}
	}
	return out
}

// TestStockGreets shows what a stock client sends before its first command.
func TestStockGreets(t *testing.T) {
	res := run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { must(t, stock(p).Set(p.Context(), "k", "v", 0).Err()) })
		return w.RunUntil(w.Idle)
	})
	for i, want := range []string{"hello 3", "client setinfo LIB-NAME", "client setinfo LIB-VER", "set k v"} {
		if got := executed(res, "r0"); i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("the node executed %q, want %q as number %d", got, want, i+1)
		}
	}
	if version := strings.ReplaceAll(runtime.Version(), " ", "-"); bytes.Contains(res.Trace.JSON(), []byte(version)) {
		t.Errorf("the trace tells the version of Go: %q", executed(res, "r0"))
	}
}

// TestGreetingDoesNotDependOnGo shows that a greeting gives the same trace with
// every version of Go, also if the link has little bandwidth.
func TestGreetingDoesNotDependOnGo(t *testing.T) {
	greet := func(name string) *trace.Trace {
		return run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
			p := w.Client(0)
			must(t, (faults.Bandwidth{Between: []string{"c0"}, Rate: 1}).Apply(w.Faults()))
			p.Go(func() {
				c := dial(p, "r0")
				mustWrite(c, fmt.Sprintf(
					"*4\r\n$6\r\nclient\r\n$7\r\nsetinfo\r\n$8\r\nLIB-NAME\r\n$%d\r\n%s\r\n*1\r\n$4\r\nPING\r\n", len(name), name))
				buf := make([]byte, 200)
				n, err := c.Read(buf)
				mark(p, "%q %v", buf[:n], err)
			})
			return w.RunUntil(w.Idle)
		}).Trace
	}
	first := greet("go-redis(,go1.26.8)")
	if text := string(first.JSON()); !strings.Contains(text, "LIB-NAME go-redis(,go)") || !strings.Contains(text, "PING") {
		t.Errorf("the greeting and the command after it are not in the trace:\n%s", text)
	}
	for _, same := range []string{"go-redis(,go1.26.10)", "go-redis(,go1.27)",
		"go-redis(,devel-go1.28-3f2a1b9-Mon-Nov-2-10:00:00-2026-X:a,b)"} {
		if d := trace.Diff(first, greet(same)); d != nil {
			t.Errorf("%s: %v", same, d)
		}
	}
	for _, other := range []string{"go-redis(mine,go1.26.8)", "go-redis(go1.26.8)", "rueidis", "my-go-redis(,go1.26.8)"} {
		if d := trace.Diff(first, greet(other)); d == nil {
			t.Errorf("%s leaves the trace of another name", other)
		}
	}
}

// TestStockOutlivesItsContext shows that a context of 200 ms does not end a
// command that waits for its reply: the read timeout of 5 s does.
func TestStockOutlivesItsContext(t *testing.T) {
	for _, tt := range []struct {
		name   string
		client func(p *sim.Process) *redis.Client
		want   time.Duration
	}{
		{"stock", stock, 5 * time.Second},
		{"stock, with the option", func(p *sim.Process) *redis.Client {
			opt := redisclient.Stock()
			opt.Addr, opt.ContextTimeoutEnabled = p.Address("r0"), true
			return redisclient.With(p, opt)
		}, 200 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withClient(t, sim.Config{}, func(c *client) {
				r := tt.client(c.p)
				must(t, r.Ping(c.ctx).Err())
				c.world(func(w *sim.World) error { return w.Faults().Cut(faults.Partition{Between: []string{"c0"}}) })
				ctx, cancel := context.WithTimeout(c.ctx, 200*time.Millisecond)
				defer cancel()
				start := c.w.Now()
				err := r.SetNX(ctx, "lock", "c0", time.Minute).Err()
				if took := c.w.Now() - start; err == nil || took < tt.want || took >= tt.want+time.Microsecond {
					t.Errorf("%v after %v, want an error after %v", err, took, tt.want)
				}
			})
		})
	}
}

// TestStockResends shows that SET NX whose reply was lost is sent again, and
// that its client takes its own lock for another client's (F27). A quiet client
// gets an error.
func TestStockResends(t *testing.T) {
	for _, tt := range []struct {
		name   string
		client func(p *sim.Process) *redis.Client
		sent   int
		failed bool
	}{
		{"stock", stock, 2, false},
		{"quiet", func(p *sim.Process) *redis.Client { return redisclient.New(p, "r0") }, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := withClient(t, sim.Config{Latency: sim.Latency{Min: time.Millisecond, Max: 5 * time.Millisecond}},
				func(c *client) {
					r := tt.client(c.p)
					must(t, r.Ping(c.ctx).Err())
					c.world(func(w *sim.World) error {
						return faults.LoseReply{Between: []string{"c0"}, And: []string{"r0"}}.Apply(w.Faults())
					})
					granted, err := r.SetNX(c.ctx, "lock", "mine", time.Minute).Result()
					if granted || (err != nil) != tt.failed {
						t.Errorf("granted %v, %v", granted, err)
					}
					if v, err := r.Get(c.ctx, "lock").Result(); v != "mine" {
						t.Errorf("the lock is %q, %v", v, err)
					}
				})
			n := 0
			for _, command := range executed(res, "r0") {
				if strings.HasPrefix(strings.ToLower(command), "set lock mine") {
					n++
				}
			}
			if n != tt.sent {
				t.Errorf("SET NX was executed %d times, want %d", n, tt.sent)
			}
		})
	}
}

// TestStockDoesNotDependOnTheMachine shows that a stock client has the same
// pool on one processor and on many.
func TestStockDoesNotDependOnTheMachine(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		onProcessors(t, n, sim.Config{}, func(w *sim.World) error {
			if size := stock(w.Client(0)).Options().PoolSize; size != 10 {
				t.Errorf("%d processors: a pool of %d, want 10", n, size)
			}
			return nil
		})
	}
}
