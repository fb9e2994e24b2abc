package redis_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

func TestPipelineKeepsOrder(t *testing.T) {
	res := withClient(t, sim.Config{}, func(c *client) {
		cmds, err := c.Pipelined(c.ctx, func(p redis.Pipeliner) error {
			for i := range 100 {
				p.Do(c.ctx, "SET", fmt.Sprint("k", i), i)
				p.Incr(c.ctx, "n")
			}
			return nil
		})
		if err != nil || len(cmds) != 200 || render(cmds[199].(*redis.IntCmd).Result()) != "100" {
			t.Errorf("%d commands, %v", len(cmds), err)
		}
	})
	if n := len(texts(res.Trace, "r0", "exec")); n != 201 { // and HELLO
		t.Errorf("%d commands in the trace", n)
	}
}

// TestCommandsAreAtomic shows that concurrent increments through WATCH are not lost.
func TestCommandsAreAtomic(t *testing.T) {
	retries := 0
	run(t, sim.Config{Clients: 3}, func(w *sim.World) error {
		for i := range 3 {
			p := w.Client(i)
			p.Go(func() {
				r, ctx := redisclient.New(p, "r0"), p.Context()
				for done := 0; done < 10; {
					err := r.Watch(ctx, func(tx *redis.Tx) error {
						n, err := tx.Get(ctx, "n").Int()
						if err != nil && !errors.Is(err, redis.Nil) {
							return err
						}
						_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
							p.Set(ctx, "n", n+1, 0)
							p.Eval(ctx, "return redis.call('INCR', KEYS[1])", []string{"evals"})
							return nil
						})
						return err
					}, "n")
					switch {
					case err == nil:
						done++
					case errors.Is(err, redis.TxFailedErr):
						retries++
					default:
						panic(err)
					}
				}
			})
		}
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		for _, k := range redisOf(w).Keys() {
			if k.Value != "30" {
				t.Errorf("%s is %s after 30 transactions", k.Name, k.Value)
			}
		}
		return nil
	})
	if retries == 0 {
		t.Error("no transactions overlapped: the test is empty")
	}
}

// raw is a connection without a client library.
type raw struct {
	net.Conn
	*bufio.Reader
	t *testing.T
}

func (r *raw) Read(b []byte) (int, error) { return r.Reader.Read(b) }

func (c *client) raw() *raw {
	conn, err := c.p.Dial(c.ctx, "tcp", "r0")
	if err != nil {
		panic(err)
	}
	return &raw{conn, bufio.NewReader(conn), c.t}
}

// want sends bytes, and checks the reply.
func (r *raw) want(send, reply string) {
	r.t.Helper()
	if _, err := r.Write([]byte(send)); err != nil {
		r.t.Errorf("send %q: %v", send, err)
		return
	}
	got := make([]byte, len(reply))
	if n, err := io.ReadFull(r, got); string(got[:n]) != reply {
		r.t.Errorf("%q answers %q (%v), want %q", send, got[:n], err, reply)
	}
}

// over checks that the node closes the connection.
func (r *raw) over() {
	r.t.Helper()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		r.t.Errorf("%q and %v instead of the end", rest, err)
	}
	_ = r.Close()
}

func TestWireProtocol(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		r.want("PING\r\n", "+PONG\r\n")
		r.want("SET k  v\nGET k\r\n", "+OK\r\n$1\r\nv\r\n")
		r.want("\r\n\r\nPING\r\n", "+PONG\r\n")
		r.want("*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n", "+PONG\r\n")
		r.want("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "$0\r\n\r\n")
		r.want("*2\r\n$4\r\nECHO\r\n$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n")
		r.want("*1\r\n$0\r\n\r\n", "-ERR unknown command ``, with args beginning with: \r\n")
		r.want("NOSUCH a\r\n", "-ERR unknown command `NOSUCH`, with args beginning with: `a`, \r\n")
		r.want("QUIT\r\nPING\r\n", "+OK\r\n")
		r.over()
		for send, reply := range map[string]string{
			"*x\r\n":                  "-ERR Protocol error: invalid multibulk length\r\n",
			"*2000000\r\n":            "-ERR Protocol error: invalid multibulk length\r\n",
			"*1\r\nPING\r\n":          "-ERR Protocol error: expected '$', got 'P'\r\n",
			"*1\r\n$-1\r\n":           "-ERR Protocol error: invalid bulk length\r\n",
			"*1\r\n$999999999999\r\n": "-ERR Protocol error: invalid bulk length\r\n",
			"SET k \"a b\"\r\n": "-ERR Protocol error: quotes in inline commands are not supported by this " +
				"server\r\n",
			strings.Repeat("x", 70<<10):    "-ERR Protocol error: too big inline request\r\n",
			"PING\r\n*1\r\n$x\r\nPING\r\n": "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n",
		} {
			r := c.raw()
			r.want(send, reply)
			r.over()
		}
		c.want("PING", "PONG") // other connections are unaffected
	})
}

// TestByteByByte sends a request one byte at a time, as a slicer does.
func TestByteByByte(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		for _, b := range []byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nab\r\nc\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n") {
			if _, err := r.Write([]byte{b}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
		r.want("", "+OK\r\n$5\r\nab\r\nc\r\n")
	})
}

func TestLargeValues(t *testing.T) {
	res := withClient(t, sim.Config{}, func(c *client) {
		value := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
		if err := c.Set(c.ctx, "k", value, 0).Err(); err != nil {
			t.Error(err)
		}
		if got, err := c.Get(c.ctx, "k").Result(); err != nil || got != value {
			t.Errorf("%d bytes came back, %v", len(got), err)
		}
		many := make([]any, 20_000)
		for i := range many {
			many[i] = i
		}
		if n, err := c.RPush(c.ctx, "l", many...).Result(); err != nil || n != 20_000 {
			t.Errorf("%d elements, %v", n, err)
		}
	})
	for _, e := range res.Trace.Events {
		if len(e.Text()) > 1000 {
			t.Errorf("event %d has a text of %d bytes", e.N, len(e.Text()))
		}
	}
}

// TestPiecesOfRequest shows that the first piece of a request which go-redis sends in pieces has the words that it
// contains.
func TestPiecesOfRequest(t *testing.T) {
	value := strings.Repeat("x", 6000)
	res := withClient(t, sim.Config{}, func(c *client) {
		if err := c.Set(c.ctx, "big", value, 0).Err(); err != nil {
			t.Error(err)
		}
	})
	var sent [][]string
	for _, e := range res.Trace.Events {
		if m, ok := e.What.(trace.Send); ok && e.Actor == "c0" &&
			!bytes.Contains(m.Content.(simredis.RESP), []byte("hello")) {
			sent = append(sent, trace.WordsOf(m.Content))
		}
	}
	if len(sent) != 2 {
		t.Fatalf("sent %q, want two pieces", sent)
	}
	first := sent[0]
	if len(first) != 3 || first[0] != "set" || first[1] != "big" || len(first[2]) < 4000 ||
		!strings.HasPrefix(value, first[2]) {
		t.Errorf("the words of the first piece are %.20q", first)
	}
}

// TestStockOptions shows go-redis with default options: RESP3, a handshake with HELLO and CLIENT, retries.
func TestStockOptions(t *testing.T) {
	res := run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx := p.Context()
			addr, err := w.Address("r0")
			if err != nil {
				panic(err)
			}
			r := redisclient.With(p, &redis.Options{Addr: addr})
			check := func(got any, err error, want string) {
				if s := render(got, err); s != want {
					t.Errorf("got %s, want %s", s, want)
				}
			}
			ok, err := r.SetNX(ctx, "k", "v", time.Second).Result()
			check(ok, err, "true")
			check(r.HSet(ctx, "h", "a", 1, "b", 2).Val(), nil, "2")
			h, err := r.HGetAll(ctx, "h").Result()
			check(h, err, "map[a:1 b:2]")
			members, err := r.SMembersMap(ctx, "none").Result()
			check(members, err, "map[]")
			check(r.Get(ctx, "none").Val(), r.Get(ctx, "none").Err(), "nil")
			v, err := r.Eval(ctx, "return {1, false, 'x', redis.call('HGETALL', KEYS[1])}", []string{"h"}).Result()
			check(v, err, "[1 <nil> x [a 1 b 2]]")
			v, err = r.Eval(ctx, "return redis.call('GET', 'none')", nil).Result()
			check(v, err, "nil")
			_, err = r.BLPop(ctx, time.Second, "none").Result()
			check("", err, "nil")
			z, err := r.ZAddArgs(ctx, "z", redis.ZAddArgs{Members: []redis.Z{{Score: 1.5, Member: "m"}}}).Result()
			check(z, err, "1")
			check(r.ZScore(ctx, "z", "m").Val(), nil, "1.5")
		})
		return w.RunUntil(w.Idle)
	})
	if !slices.ContainsFunc(texts(res.Trace, "r0", "exec"),
		func(s string) bool { return strings.Contains(s, "hello 3") }) {
		t.Errorf("no HELLO 3 in the trace:\n%s", strings.Join(texts(res.Trace, "r0", "exec"), "\n"))
	}
}

// TestPubSub sends messages from one client to two others, one of which also has a pattern and uses RESP3.
func TestPubSub(t *testing.T) {
	body := func(w *sim.World) error {
		var got [2][]string
		for i := range 2 {
			p := w.Client(i)
			p.Go(func() {
				ctx := p.Context()
				opt := redisclient.Quiet()
				opt.Addr = redisOf(w).Node().Address()
				opt.Protocol = 2 + i
				s := redisclient.With(p, opt).Subscribe(ctx, "a", "b")
				defer func() { _ = s.Close() }()
				if i == 1 {
					if err := s.PSubscribe(ctx, "[ab]*"); err != nil {
						panic(err)
					}
				}
				want := 4 + 4*i
				for len(got[i]) < want {
					m, err := s.ReceiveMessage(ctx)
					if err != nil {
						panic(err)
					}
					got[i] = append(got[i], m.Pattern+m.Channel+":"+m.Payload)
				}
			})
		}
		p := w.Client(2)
		p.Go(func() {
			time.Sleep(time.Second)
			r, ctx := redisclient.New(p, "r0"), p.Context()
			if n, err := r.Publish(ctx, "a", 1).Result(); err != nil || n != 3 {
				t.Errorf("PUBLISH reached %d, %v", n, err)
			}
			if n, err := r.Publish(ctx, "c", 2).Result(); err != nil || n != 0 {
				t.Errorf("PUBLISH reached %d, %v", n, err)
			}
			r.Eval(ctx, "return redis.call('PUBLISH', 'b', '3')", nil)
			if _, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Publish(ctx, "a", 4)
				p.Publish(ctx, "b", 5)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		if g := strings.Join(got[0], " "); g != "a:1 b:3 a:4 b:5" {
			t.Errorf("c0 received %s", g)
		}
		if g := strings.Join(got[1], " "); g != "a:1 [ab]*a:1 b:3 [ab]*b:3 a:4 b:5 [ab]*a:4 [ab]*b:5" {
			t.Errorf("c1 received %s", g)
		}
		return nil
	}
	var first *trace.Trace
	for range 20 {
		res := run(t, sim.Config{Clients: 3}, body)
		if first == nil {
			first = res.Trace
		}
		if d := trace.Diff(first, res.Trace); d != nil {
			t.Fatal(d)
		}
	}
}

// TestSubscribersLeave shows that no goroutine of miniredis is left, however a subscriber's connection ends: [sim.Run]
// would return a LeakError.
func TestSubscribersLeave(t *testing.T) {
	for name, leave := range map[string]func(w *sim.World, s *redis.PubSub) error{
		"unsubscribed": func(w *sim.World, s *redis.PubSub) error { return s.Unsubscribe(context.Background()) },
		"closed":       func(w *sim.World, s *redis.PubSub) error { return s.Close() },
		"left open":    func(*sim.World, *redis.PubSub) error { return nil },
		"crashed":      func(w *sim.World, _ *redis.PubSub) error { return w.Faults().Crash("c0", faults.CrashProcess) },
		"power lost":   func(w *sim.World, _ *redis.PubSub) error { return w.Faults().Crash("c0", faults.CrashPower) },
		"cut off": func(w *sim.World, _ *redis.PubSub) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: []string{"r0"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, sim.Config{}, func(w *sim.World) error {
				p := w.Client(0)
				var s *redis.PubSub
				p.Go(func() {
					s = redisclient.New(p, "r0").PSubscribe(p.Context(), "a*", "b*")
					if err := s.Subscribe(p.Context(), "c"); err != nil {
						panic(err)
					}
					p.OnEnd(func() { _ = s.Close() })
				})
				if err := w.RunFor(time.Second); err != nil {
					return err
				}
				q := w.NewProcess("q")
				if name == "unsubscribed" || name == "closed" { // these use the network
					p.Go(func() { _ = leave(w, s) })
				} else if err := leave(w, s); err != nil {
					return err
				}
				q.Go(func() { redisclient.New(q, "r0").Publish(q.Context(), "abc", "x") })
				return w.RunUntil(w.Idle)
			})
		})
	}
}

// TestBlockingIsFair shows that of several blocked commands the one that has waited longest is served first, over all
// clients and in every run.
func TestBlockingIsFair(t *testing.T) {
	for seed := range uint64(10) {
		var order []string
		run(t, sim.Config{Seed: seed, Clients: 4}, func(w *sim.World) error {
			for i := range 3 {
				p := w.Client(i)
				p.Go(func() {
					time.Sleep(time.Duration(3-i) * 100 * time.Millisecond)
					v, err := redisclient.New(p, "r0").BLPop(p.Context(), 0, "q", "other").Result()
					order = append(order, fmt.Sprint(p.Name(), v, err))
				})
			}
			p := w.Client(3)
			p.Go(func() {
				r, ctx := redisclient.New(p, "r0"), p.Context()
				time.Sleep(time.Second)
				if v, err := r.Get(ctx, "free").Result(); !errors.Is(err, redis.Nil) {
					t.Errorf("others are not served meanwhile: %v %v", v, err)
				}
				r.RPush(ctx, "q", 1)
				time.Sleep(time.Second)
				r.RPush(ctx, "q", 2, 3)
			})
			return w.RunUntil(w.Idle)
		})
		slices.Sort(order[1:]) // two were sent in one instant, on different links
		if got := strings.Join(order, " "); got != "c2[q 1] <nil> c0[q 3] <nil> c1[q 2] <nil>" {
			t.Errorf("seed %d: %s", seed, got)
		}
	}
}

func TestBlockingTimesOut(t *testing.T) {
	res := withClient(t, sim.Config{}, func(c *client) {
		c.want("PING", "PONG") // it dials
		for _, line := range []string{
			"BLPOP q 2", "BRPOP q 2", "BLMOVE q p LEFT RIGHT 2", "BRPOPLPUSH q p 2", "BZPOPMIN z 2",
			"XREAD BLOCK 2000 STREAMS s $", "XREAD COUNT 1 BLOCK 2000 STREAMS s 0",
		} {
			start := c.w.Now()
			got := c.do(line)
			if strings.HasPrefix(got, "ERR unknown command") {
				continue
			}
			if got != "nil" {
				t.Errorf("%s answers %s", line, got)
			}
			if d := c.w.Now() - start; d < 2*time.Second || d > 2*time.Second+5*time.Millisecond {
				t.Errorf("%s took %v", line, d)
			}
		}
		c.want("BLPOP q -1", "ERR timeout is negative")
		c.want("BLPOP q x", "ERR timeout is not a float or out of range")
		c.want("SET str v", "OK")
		c.want("BLPOP str 1", "WRONGTYPE Operation against a key holding the wrong kind of value")
		c.want("BLPOP", "ERR wrong number of arguments for 'blpop' command")
		c.want("RPUSH q here", "1")
		c.want("BLPOP q 1", "[q here]")
	})
	execs := texts(res.Trace, "r0", "exec")[2:] // after HELLO and PING
	if execs[0] != "c0: BLPOP q 2 -> (waits)" || execs[1] != "c0: BLPOP q 2 -> nil" {
		t.Errorf("the trace has %q", execs[:2])
	}
}

// TestBlockingWakes pushes elements in different ways for commands that wait in different ways.
func TestBlockingWakes(t *testing.T) {
	for _, tc := range []struct{ wait, push, want string }{
		{"BLPOP q 0", "RPUSH q a b", "[q a]"},
		{"BRPOP p q 0", "RPUSH q a b", "[q b]"},
		{"BLMOVE q p LEFT RIGHT 0", "RPUSH q a b", "a"},
		{"BLPOP q 0", "EVAL return(redis.call('RPUSH','q','x')) 0", "[q x]"},
		{"BLPOP q 0", "RENAME full q", "[q f]"},
		{"XREAD BLOCK 0 STREAMS s $", "XADD s 5-0 f v", "[[s [[5-0 [f v]]]]]"},
		{"XREAD BLOCK 0 STREAMS full s 0 0", "XADD s 5-0 f v", "WRONGTYPE"},
	} {
		run(t, sim.Config{Clients: 2, Latency: exactly}, func(w *sim.World) error {
			a, b := w.Client(0), w.Client(1)
			a.Go(func() {
				r := redisclient.New(a, "r0")
				r.RPush(a.Context(), "full", "f")
				r.XAdd(a.Context(), &redis.XAddArgs{Stream: "s", ID: "1-0", Values: []any{"old", 1}})
				got := render(r.Do(a.Context(), asArgs(tc.wait)...).Result())
				if tc.want != "WRONGTYPE" && got != tc.want {
					t.Errorf("%s then %s: %s, want %s", tc.wait, tc.push, got, tc.want)
				}
			})
			b.Go(func() {
				time.Sleep(time.Second)
				if err := redisclient.New(b, "r0").Do(b.Context(), asArgs(tc.push)...).Err(); err != nil {
					t.Errorf("%s: %v", tc.push, err)
				}
			})
			return w.RunUntil(w.Idle)
		})
	}
}

// TestBlockedPipeline shows that commands which a client sends behind a blocking command wait for it.
func TestBlockedPipeline(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		if _, err := r.Write([]byte("BLPOP q 0\r\nINCR n\r\nBLPOP q 0\r\nINCR n\r\n")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		c.want("GET n", "nil")
		c.want("RPUSH q 1", "1")
		c.want("GET n", "1")
		c.want("RPUSH q 2", "1")
		r.want("", "*2\r\n$1\r\nq\r\n$1\r\n1\r\n:1\r\n*2\r\n$1\r\nq\r\n$1\r\n2\r\n:2\r\n")
		c.want("GET n", "2")
	})
}

// TestBlockedClientLeaves shows that a later element is not sent to a client that has closed its connection, and that
// the run leaks nothing.
func TestBlockedClientLeaves(t *testing.T) {
	res := withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		if _, err := r.Write([]byte("BLPOP q 0\r\n")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		_ = r.Close()
		c.want("RPUSH q 1", "1")
		c.want("LLEN q", "1")
		still := c.raw()
		if _, err := still.Write([]byte("BLPOP none 0\r\nPING\r\n")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // the run ends meanwhile
	})
	if got := texts(res.Trace, "r0", "exec"); got[0] != "c0: BLPOP q 0 -> (waits)" {
		t.Errorf("the trace has %q", got)
	}
}

// TestBlockingInMulti does not block, as in Redis.
func TestBlockingInMulti(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		r.want("MULTI\r\nBLPOP q 0\r\nRPUSH q 1\r\nBLPOP q 0\r\nEXEC\r\n",
			"+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n*-1\r\n:1\r\n*2\r\n$1\r\nq\r\n$1\r\n1\r\n")
	})
}

// TestDatabases shows that blocking commands and scripts use the connection's database.
func TestDatabases(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		r.want("SELECT 1\r\nRPUSH q one\r\nSELECT 0\r\n", "+OK\r\n:1\r\n+OK\r\n")
		r.want("BLPOP q 1\r\n", "*-1\r\n")
		r.want("SELECT 1\r\nBLPOP q 1\r\n", "+OK\r\n*2\r\n$1\r\nq\r\n$3\r\none\r\n")
		r.want("EVAL return(redis.call([[SELECT]],2)) 0\r\nDBSIZE\r\n", "+OK\r\n:0\r\n")
		opt := redisclient.Quiet()
		opt.Addr, opt.DB = redisOf(c.w).Node().Address(), 1
		r1 := redisclient.With(c.p, opt)
		if err := r1.Eval(c.ctx, "return redis.call('SET', KEYS[1], 'v')", []string{"k"}).Err(); err != nil {
			t.Error(err)
		}
		if v, err := r1.Get(c.ctx, "k").Result(); v != "v" {
			t.Errorf("a script's key in database 1: %q %v", v, err)
		}
		c.want("EXISTS k", "0")
	})
}

func TestTraceOfCommands(t *testing.T) {
	res := withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v", "OK")
		if err := c.Eval(c.ctx, "-- look: what is there\nreturn {redis.call('GET', KEYS[1]), 5, false}",
			[]string{"k"}).Err(); err != nil {
			t.Error(err)
		}
		c.EvalSha(c.ctx, "0123456789012345678901234567890123456789", nil)
		c.Set(c.ctx, "big", strings.Repeat("x", 5000), 0)
		c.Set(c.ctx, "lines", "*1\r\n$3\nfoo", 0)
		c.Get(c.ctx, "lines")
		c.Get(c.ctx, "none")
		s := c.Subscribe(c.ctx, "ch")
		if _, err := s.Receive(c.ctx); err != nil {
			t.Error(err)
		}
		_ = s.Close()
	})
	want := []string{
		"c0: SET k v -> OK",
		"c0: eval [look: what is there] 1 k -> v 5 nil",
		"c0: evalsha 01234567 0 -> -NOSCRIPT No matching script. Please use EVAL.",
		"c0: set big " + strings.Repeat("x", 300-len("set big ")) + " … and 4708 bytes -> OK",
		"c0: set lines *1  $3 foo -> OK",
		"c0: get lines -> *1  $3 foo",
		"c0: get none -> nil",
		"c0: subscribe ch -> subscribe ch 1",
	}
	got := slices.DeleteFunc(texts(res.Trace, "r0", "exec"), func(s string) bool { return strings.Contains(s, "hello") })
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d is\n  %s\nwant\n  %s", i, got[i], want[i])
		}
	}
}

// TestEndlessScript shows that the run fails, with the node and the script in the error.
func TestEndlessScript(t *testing.T) {
	_, err := sim.Run(served(sim.Config{}), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { redisclient.New(p, "r0").Eval(p.Context(), "-- spin\nwhile true do end", nil) })
		return w.RunUntil(w.Idle)
	})
	var limit *sim.LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), "r0 runs the script [spin]") {
		t.Errorf("error %v", err)
	}
}
