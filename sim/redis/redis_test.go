package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// exactly is a latency of exactly 1 ms.
var exactly = sim.Latency{Min: time.Millisecond, Max: time.Millisecond}

// client is one client of r0 in a world, for a test.
type client struct {
	*redis.Client
	t   *testing.T
	w   *sim.World
	p   *sim.Process
	ctx context.Context
	now func(n *simredis.Server)
}

// withClient runs f as the process c0 of a world.
func withClient(t *testing.T, cfg sim.Config, f func(c *client)) *sim.Result {
	t.Helper()
	if cfg.Latency == (sim.Latency{}) {
		cfg.Latency = exactly
	}
	return run(t, cfg, func(w *sim.World) error {
		c := &client{t: t, w: w, p: w.Client(0), ctx: w.Client(0).Context()}
		w.OnMark(func(_ string, m trace.Mark) {
			if m.Label == "at once" {
				c.now(redisOf(w))
			}
		})
		c.Client = redisclient.New(c.p, "r0")
		c.p.Go(func() { f(c) })
		return w.RunUntil(w.Idle)
	})
}

// do sends a command and returns the reply as text.
func (c *client) do(line string) string {
	return render(c.Do(c.ctx, asArgs(line)...).Result())
}

func render(v any, err error) string {
	switch {
	case errors.Is(err, redis.Nil):
		return "nil"
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(v)
}

// want checks the reply to a command.
func (c *client) want(line, answer string) {
	c.t.Helper()
	if got := c.do(line); got != answer {
		c.t.Errorf("%s answers %s, want %s", line, got, answer)
	}
}

// between checks the number in a command's reply.
func (c *client) between(line string, low, high int64) {
	c.t.Helper()
	got, err := c.Do(c.ctx, asArgs(line)...).Int64()
	if err != nil || got < low || got > high {
		c.t.Errorf("%s answers %d (%v), want %d to %d", line, got, err, low, high)
	}
}

func asArgs(line string) []any {
	var args []any
	for _, f := range strings.Fields(line) {
		args = append(args, f)
	}
	return args
}

// atOnce calls f with the node on the world's goroutine.
func (c *client) atOnce(f func(n *simredis.Server)) {
	c.now = f
	if err := c.p.Point("at once"); err != nil {
		c.t.Error(err)
	}
}

func TestTTLCountsDown(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v PX 1000", "OK")
		time.Sleep(398 * time.Millisecond) // and 2 ms on the wire
		c.between("PTTL k", 599, 600)
		c.want("TTL k", "1") // to the nearest second
		time.Sleep(594 * time.Millisecond)
		c.want("GET k", "v")
		c.want("GET k", "nil")
		c.want("PTTL k", "-2")
		c.want("SET k v EX 2", "OK")
		c.want("PERSIST k", "1")
		time.Sleep(time.Minute)
		c.want("TTL k", "-1")
	})
}

func TestClockJumpForwardExpires(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET short v PX 10000", "OK")
		c.want("SET long v EX 100", "OK")
		c.want("HSET h f v g v", "2")
		c.want("HEXPIRE h 10 FIELDS 1 f", "[1]")
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0", time.Minute) })
		c.want("GET short", "nil")
		c.between("PTTL long", 39_000, 40_000)
		c.want("HGETALL h", "[g v]")
	})
}

// TestClockJumpBackProlongs shows that a jump back makes the remaining TTL
// longer by the jump, since Redis stores the instant of expiry.
func TestClockJumpBackProlongs(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v PX 10000", "OK")
		c.want("HSET h f v", "1")
		c.want("HEXPIRE h 10 FIELDS 1 f", "[1]")
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0", -time.Minute) })
		c.between("PTTL k", 69_990, 70_000)
		time.Sleep(69 * time.Second)
		c.want("GET k", "v")
		c.want("HGET h f", "v")
		time.Sleep(time.Second)
		c.want("GET k", "nil")
		c.want("HGET h f", "nil")
	})
}

func TestClockDrift(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.world(func(w *sim.World) error { return w.Faults().DriftClock("r0", 1_000_000, 0) }) // twice as fast
		c.want("SET k v PX 10000", "OK")
		time.Sleep(4990 * time.Millisecond)
		c.want("GET k", "v")
		time.Sleep(10 * time.Millisecond)
		c.want("GET k", "nil")
		c.want("SET k v PX 10000", "OK")
		c.world(func(w *sim.World) error { return w.Faults().DriftClock("r0", -1_000_000, 0) }) // stopped
		time.Sleep(30 * time.Minute)
		c.want("GET k", "v")
		c.world(func(w *sim.World) error { return w.Faults().DriftClock("r0", 0, 0) })
		time.Sleep(10 * time.Second)
		c.want("GET k", "nil")
	})
}

// TestInstants shows that TIME and commands with an instant of expiry follow
// the node's clock, not the world's.
func TestInstants(t *testing.T) {
	for _, jump := range []time.Duration{0, time.Hour, -time.Hour} {
		withClient(t, sim.Config{}, func(c *client) {
			c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0", jump) })
			var now time.Time
			c.atOnce(func(n *simredis.Server) { now = n.Node().Now() })
			got, err := c.Time(c.ctx).Result()
			if err != nil || got.Sub(now) < 0 || got.Sub(now) > 10*time.Millisecond {
				t.Errorf("after a jump of %v: TIME is %v (%v), the node's clock shows %v", jump, got, err, now)
			}
			for i, set := range []string{"SET k%d v EXAT %d", "SET k%d v PXAT %d", "EXPIREAT k%d %d", "PEXPIREAT k%d %d"} {
				at := now.Add(10 * time.Second)
				stamp := at.Unix()
				if strings.Contains(set, "PX") || strings.HasPrefix(set, "PEX") {
					stamp = at.UnixMilli()
				}
				if i > 1 {
					c.want(fmt.Sprintf("SET k%d v", i), "OK")
				}
				c.do(fmt.Sprintf(set, i, stamp))
				c.between(fmt.Sprintf("PTTL k%d", i), 8_900, 10_000)
			}
			c.between("EXPIRETIME k0", now.Unix()+9, now.Unix()+10)
			time.Sleep(10 * time.Second)
			for i := range 4 {
				c.want(fmt.Sprintf("EXISTS k%d", i), "0")
			}
		})
	}
}

// TestInstantInThePast shows that the key is deleted at once, and that a later
// one of the same name is not affected. miniredis would keep the TTL.
func TestInstantInThePast(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		for _, past := range []string{"SET k v PXAT 1000", "SET k v EXAT 1", "set k v exat 1"} {
			c.want(past, "OK")
			c.want("EXISTS k", "0")
			c.want("HSET k f v", "1")
			time.Sleep(time.Second)
			c.want("HGET k f", "v")
			c.want("TTL k", "-1")
			c.want("DEL k", "1")
		}
		if err := c.Eval(c.ctx, "redis.call('SET', 'k', 'v', 'PXAT', 1000) redis.call('SET', 'k', 'w')",
			nil).Err(); !errors.Is(err, redis.Nil) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		c.want("GET k", "w")
		if _, err := c.Pipelined(c.ctx, func(p redis.Pipeliner) error { // one event, no time between
			p.Do(c.ctx, "GETEX", "k", "PXAT", 1000)
			get := p.Get(c.ctx, "k")
			p.Do(c.ctx, "PING")
			_ = get
			return nil
		}); !errors.Is(err, redis.Nil) {
			t.Errorf("GET right after the key was set to expire in the past: %v", err)
		}
	})
}

// TestPresentInstant shows that a key which is set to expire at exactly the
// present instant is gone at once, sent directly, in MULTI or by a script.
// miniredis takes a TTL of 0 for none.
func TestPresentInstant(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		for _, way := range []string{"directly", "in MULTI", "queued before", "by a script"} {
			for _, command := range []string{
				"SET k v PXAT ms", "SET k v NX PXAT ms", "SET k v EXAT s", "GETEX k PXAT ms", "GETEX k EXAT s", "PEXPIREAT k ms",
				"EXPIREAT k s",
				"EXPIRE k 0", "PEXPIRE k 0", "EXPIRE k -1", "PEXPIRE k -1", "SET k v XX PXAT ms", "SET k v PXAT past GET",
				"EXPIREAT k past",
			} {
				c.want("DEL k", c.do("EXISTS k"))
				if !strings.Contains(command, "NX") {
					c.want("SET k old", "OK")
				}
				// The next command is executed at the next whole second.
				var now time.Time
				c.atOnce(func(n *simredis.Server) { now = n.Node().Now() })
				at := now.Add(2 * time.Millisecond).Truncate(time.Second).Add(time.Second)
				line := strings.NewReplacer("ms", fmt.Sprint(at.UnixMilli()), "past", "1", " s",
					fmt.Sprint(" ", at.Unix())).Replace(command)
				args := asArgs(line)
				conn := c.Conn()
				conn.Ping(c.ctx) // it dials
				if way == "queued before" {
					conn.Do(c.ctx, "MULTI")
					conn.Do(c.ctx, args...)
				}
				c.atOnce(func(n *simredis.Server) { now = n.Node().Now() })
				time.Sleep(at.Sub(now) - time.Millisecond)
				p := conn.Pipeline()
				switch way {
				case "directly":
					p.Do(c.ctx, args...)
				case "in MULTI":
					p.Do(c.ctx, "MULTI")
					p.Do(c.ctx, args...)
					p.Do(c.ctx, "EXEC")
				case "queued before":
					p.Do(c.ctx, "EXEC")
				case "by a script":
					p.Do(c.ctx, append([]any{"EVAL", "return redis.call(unpack(ARGV))", 0}, args...)...)
				}
				instant := p.Time(c.ctx)
				left := p.Exists(c.ctx, "k")
				if _, err := p.Exec(c.ctx); err != nil && !errors.Is(err, redis.Nil) {
					t.Errorf("%s %s: %v", command, way, err)
				}
				_ = conn.Close()
				if !instant.Val().Equal(at) {
					t.Fatalf("%s %s: executed at %v, want exactly %v", command, way, instant.Val(), at)
				}
				if left.Val() != 0 {
					t.Errorf("%s %s: the key is there, PTTL %s", command, way, c.do("PTTL k"))
				}
				time.Sleep(5 * time.Second)
				c.want("EXISTS k", "0")
				c.want("SET k new NX", "OK") // no TTL is left behind
				time.Sleep(5 * time.Second)
				c.want("GET k", "new")
			}
		}
	})
}

// TestFieldsThatExpireAtOnce shows that fields of a hash which are set to expire
// at once are deleted at once, with the replies that Redis documents.
func TestFieldsThatExpireAtOnce(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		for _, tc := range []struct{ command, reply, left string }{
			{"HEXPIRE h 0 FIELDS 2 f x", "*2\r\n:2\r\n:-2\r\n", "[g 2]"},
			{"HEXPIRE h 0 LT FIELDS 2 f g", "*2\r\n:2\r\n:2\r\n", "[]"},
			{"HEXPIRE h 0 GT FIELDS 1 f", "*1\r\n:0\r\n", "[f 1 g 2]"},
			{"HEXPIRE none 0 FIELDS 1 f", "*1\r\n:-2\r\n", "[f 1 g 2]"},
			{"HEXPIRE h -1 FIELDS 1 f", "-ERR invalid expire time, must be >= 0\r\n", "[f 1 g 2]"},
			{"HSETEX h EX 0 FIELDS 1 f v", ":1\r\n", "[g 2]"},
			{"HSETEX h PXAT 1000 FIELDS 2 f v n w", ":1\r\n", "[g 2]"},
			{"HSETEX h EXAT 1 FIELDS 2 f v g w", ":1\r\n", "[]"},
			{"HSETEX h FXX EXAT 1 FIELDS 1 n v", ":0\r\n", "[f 1 g 2]"},
			{"HSETEX h PX -5 FIELDS 1 f v", "-ERR invalid expire time, must be >= 0\r\n", "[f 1 g 2]"},
			{"HSETEX h PX 5000 FIELDS 1 f v", ":1\r\n", "[f v g 2]"},
		} {
			for _, multi := range []bool{false, true} {
				c.do("DEL h")
				c.want("HSET h f 1 g 2", "2")
				if multi {
					r.want("MULTI\r\n"+tc.command+"\r\nHLEN none\r\nEXEC\r\n", "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n"+tc.reply+":0\r\n")
				} else {
					r.want(tc.command+"\r\n", tc.reply)
				}
				c.want("HGETALL h", tc.left)
				c.do("HSET h f again")
				if tc.left != "[f v g 2]" {
					c.between("HLEN h", 1, 3)
					time.Sleep(10 * time.Second)
				}
				c.want("HGET h f", "again") // no TTL is left behind
			}
		}
		script := "redis.call('HSET', 'h', 'f', 1, 'g', 2) redis.call('HEXPIRE', 'h', 0, 'FIELDS', 1, 'f') return " +
			"redis.call('HGET', 'h', 'f')"
		if v, err := c.Eval(c.ctx, script, nil).Result(); !errors.Is(err, redis.Nil) {
			t.Errorf("in the script that has set its field to expire at once: %v %v", v, err)
		}
	})
}

// TestMistakesInMulti shows that a wrong option does not fail a transaction: the
// error is the reply of the command. Too few arguments fail it.
func TestMistakesInMulti(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		r := c.raw()
		r.want("MULTI\r\nSET k v PX 0\r\nZADD z x m\r\nEXPIRE k 1 NX GT\r\nHSET h f v g\r\nSELECT 1\r\nINCR n\r\nEXEC\r\n",
			"+OK\r\n"+strings.Repeat("+QUEUED\r\n", 6)+"*6\r\n"+
				"-ERR invalid expire time in 'set' command\r\n"+
				"-ERR value is not a valid float\r\n"+
				"-ERR NX and XX, GT or LT options at the same time are not compatible\r\n"+
				"-ERR wrong number of arguments for 'hset' command\r\n"+
				"+OK\r\n:1\r\n")
		r.want("SELECT 0\r\nMULTI\r\nINCR n\r\nZADD z\r\nEXEC\r\n", "+OK\r\n+OK\r\n+QUEUED\r\n-ERR wrong number of "+
			"arguments for 'zadd' command\r\n"+
			"-EXECABORT Transaction discarded because of previous errors.\r\n")
		r.want("WATCH w\r\nMULTI\r\nSET k v PXAT 1\r\n", "+OK\r\n+OK\r\n+QUEUED\r\n")
		c.want("SET w changed", "OK")
		r.want("EXEC\r\n", "*-1\r\n")
		c.want("EXISTS n", "0")
	})
}

// TestExpiryFarAway shows that no TTL overflows.
func TestExpiryFarAway(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		for _, command := range []string{
			"SET k v PX 9000000000000000", "SET k v PXAT 9223372036854775807", "PSETEX k 9000000000000000 v",
			"SET k v EX 9000000000000",
			"SETEX k 9000000000000 v", "GETEX k EXAT 9000000000000000", "EXPIRE k 9000000000000",
			"PEXPIREAT k 9223372036854775807",
		} {
			c.do("SET k v")
			if got := c.do(command); strings.HasPrefix(got, "ERR") {
				t.Errorf("%s answers %s", command, got)
			}
			c.between("PTTL k", century-1000, century)
			time.Sleep(10 * time.Second)
			c.want("GET k", "v")
			c.at("r0a").want("GET k", "v")
		}
	})
}

// TestKeyNeverExpiresEarly compares the replies to GET with the instants at
// which the node executed SET and GET: a key lives for its TTL, to the
// nanosecond.
func TestKeyNeverExpiresEarly(t *testing.T) {
	const ttl = 7 * time.Millisecond
	alive, dead := 0, 0
	for seed := range uint64(30) {
		res := withClient(t, sim.Config{Seed: seed, Latency: sim.Latency{Min: 0, Max: 3 * time.Millisecond}},
			func(c *client) {
				for range 20 {
					c.do("SET k v PX 7")
					time.Sleep(time.Duration(c.p.Rand("sleep").Int64N(int64(8 * time.Millisecond))))
					c.do("GET k")
					c.do("GET k")
				}
			})
		var set time.Duration
		for _, e := range res.Trace.Events {
			switch age := e.At - set; {
			case e.Kind() != "exec":
			case strings.HasPrefix(e.Text(), "SET"):
				set = e.At
			case strings.HasSuffix(e.Text(), "-> v"):
				if alive++; age >= ttl {
					t.Errorf("seed %d: alive after %v", seed, age)
				}
			case strings.HasSuffix(e.Text(), "-> nil"):
				if dead++; age < ttl {
					t.Errorf("seed %d: expired after %v", seed, age)
				}
			}
		}
	}
	if alive == 0 || dead == 0 {
		t.Errorf("%d keys alive and %d expired: the test is empty", alive, dead)
	}
}

// TestKeys shows the keys of a node as the harness reads them.
func TestKeys(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET b v PX 10000", "OK")
		c.want("SET a x", "OK")
		c.want("LPUSH l 1", "1")
		time.Sleep(9 * time.Second)
		c.atOnce(func(n *simredis.Server) {
			keys := n.Keys()
			if len(keys) != 3 || keys[0] != (trace.Key{Name: "a", Value: "x"}) ||
				keys[2] != (trace.Key{Name: "l", Value: "(list)"}) {
				t.Errorf("keys %+v", keys)
			}
			if b := keys[1]; b.Name != "b" || b.TTL <= 0 || b.TTL > time.Second {
				t.Errorf("key %+v, want b with a little less than 1 s", b)
			}
			must(t, c.w.Faults().JumpClock("r0", time.Minute))
			if keys := n.Keys(); len(keys) != 2 {
				t.Errorf("after a jump: keys %+v", keys)
			}
		})
	})
}

func TestDriftTooFar(t *testing.T) {
	_, err := sim.Run(served(sim.Config{}), func(w *sim.World) error { return w.Faults().DriftClock("r0", -1_000_001, 0) })
	if err == nil || !strings.Contains(err.Error(), "drift of r0 by -1000001 ppm") {
		t.Errorf("error %v", err)
	}
}

// texts are the texts of a trace's events of one kind.
func texts(tr *trace.Trace, actor, kind string) []string {
	var out []string
	for _, e := range tr.Events {
		if e.Actor == actor && e.Kind() == kind {
			out = append(out, e.Peer+": "+e.Text())
		}
	}
	return out
}
