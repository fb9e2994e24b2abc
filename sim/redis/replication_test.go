package redis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// at is a client of the same process for another node.
func (c *client) at(node string) *client {
	d := *c
	d.Client = redisclient.New(c.p, node)
	return &d
}

// world calls f on the world's goroutine. f must not fail.
func (c *client) world(f func(w *sim.World) error) {
	c.t.Helper()
	c.atOnce(func(*simredis.Server) {
		if err := f(c.w); err != nil {
			c.t.Error(err)
		}
	})
}

// keys are the keys of nodes, all at one instant, as text: "name=value ttl".
func (c *client) keys(nodes ...string) [][]string {
	out := make([][]string, len(nodes))
	c.world(func(w *sim.World) error {
		for i, node := range nodes {
			s, err := simredis.On(w, node)
			if err != nil {
				return err
			}
			for _, k := range s.Keys() {
				out[i] = append(out[i], fmt.Sprintf("%s=%s %v", k.Name, k.Value, k.TTL))
			}
		}
		return nil
	})
	return out
}

// everyType has write commands for each type of key, each with a command that
// reads the key.
var everyType = []struct{ write, ask string }{
	{"SET s v", "GET s"},
	{"SET t v PX 90000", "PTTL t"},
	{"INCRBY n 41", "GET n"},
	{"HSET h f 1 g 2", "HGETALL h"},
	{"HDEL h g", "HGETALL h"},
	{"RPUSH l a b c", "LRANGE l 0 -1"},
	{"LMOVE l m LEFT RIGHT", "LRANGE m 0 -1"},
	{"SADD set x y", "SMEMBERS set"},
	{"ZADD z 1.5 a -inf b +inf c 1000 d", "ZRANGE z 0 -1 WITHSCORES"},
	{"XADD x 5-1 a b c d", "XRANGE x - +"},
	{"XADD x 5-2 e f", "XRANGE x - +"},
	{"PEXPIRE h 80000", "PTTL h"},
	{"RENAME set other", "SMEMBERS other"},
	{"COPY s copy", "GET copy"},
	{"APPEND s w", "GET s"},
	{"PERSIST h", "PTTL h"},
	{"HSET h g 2", "HGETALL h"},
	{"HEXPIRE h 1 FIELDS 1 g", "HGETALL h"},
	{"GETDEL n", "GET n"},
	{"SET gone v PX 5", "GET gone"},
	{"SET past v PXAT 1000", "GET past"},
	{"MOVE m 3", "LRANGE m 0 -1"},
	{"FLUSHDB", "DBSIZE"},
}

// TestReplicaHasWhatThePrimaryHas after each command of every type.
func TestReplicaHasWhatThePrimaryHas(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 2}), func(c *client) {
		first, second := c.at("r0a"), c.at("r0b")
		for _, e := range everyType {
			c.do(e.write)
			time.Sleep(10 * time.Millisecond)
			have := c.keys("r0", "r0a", "r0b")
			for i, node := range []string{"r0a", "r0b"} {
				if diff := cmp.Diff(have[0], have[i+1]); diff != "" {
					t.Errorf("%s: r0 and %s have (-r0 +%s):\n%s", e.write, node, node, diff)
				}
			}
			if strings.HasPrefix(e.ask, "PTTL") {
				continue // the TTL changes on the wire
			}
			first.want(e.ask, c.do(e.ask))
			second.want(e.ask, c.do(e.ask))
		}
		first.want("SELECT 3", "OK")
	})
}

// TestFieldsExpireOnAReplica shows that a hash is replicated with the expiry of
// its fields, also if that has passed by the replica's clock.
func TestFieldsExpireOnAReplica(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1, Persistence: simredis.PersistAlways}), func(c *client) {
		r := c.at("r0a")
		c.want("HSET h f 1 g 2", "2")
		c.want("HEXPIRE h 2 FIELDS 1 g", "[1]")
		time.Sleep(10 * time.Millisecond)
		r.want("HGETALL h", "[f 1 g 2]")
		c.world(crash("r0a", faults.CrashProcess))
		c.world(restart("r0a"))
		r = c.at("r0a")
		r.want("HGETALL h", "[f 1 g 2]")
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", 3*time.Second) })
		r.want("HGETALL h", "[f 1]")
		c.want("HSET h i 3", "1")
		time.Sleep(10 * time.Millisecond)
		r.want("HGETALL h", "[f 1 i 3]")
		time.Sleep(2 * time.Second)
		c.want("HGETALL h", "[f 1 i 3]")
		r.want("HGETALL h", "[f 1 i 3]")
	})
}

// TestReplicationIsLate shows that a replica has an acknowledged write only
// after the lag.
func TestReplicationIsLate(t *testing.T) {
	lag := sim.Latency{Min: 200 * time.Millisecond, Max: 300 * time.Millisecond}
	withClient(t, with(simredis.Servers{Replicas: 1, Lag: lag}), func(c *client) {
		replica := c.at("r0a")
		c.want("SET k v", "OK") // executed 1 ms ago
		time.Sleep(190 * time.Millisecond)
		replica.want("GET k", "nil")
		time.Sleep(110 * time.Millisecond)
		replica.want("GET k", "v")
	})
}

// TestEffectsArriveInOrder although each draws its own lag and latency.
func TestEffectsArriveInOrder(t *testing.T) {
	for seed := range uint64(10) {
		res := withClient(t, sim.Config{Seed: seed, Latency: sim.Latency{Max: 20 * time.Millisecond},
			Servers: []sim.Kind{simredis.Servers{Replicas: 1, Lag: sim.Latency{Max: 50 * time.Millisecond}}}}, func(c *client) {
			for range 30 {
				c.do("INCR n")
			}
			time.Sleep(100 * time.Millisecond)
			c.at("r0a").want("GET n", "30")
		})
		for i, text := range texts(res.Trace, "r0a", "apply") {
			if want := fmt.Sprintf("r0: n=%d", i+1); text != want {
				t.Fatalf("seed %d: effect %d is %q, want %q", seed, i+1, text, want)
			}
		}
	}
}

// TestScriptsAndTransactionsArriveAsOne shows that a replica applies each as a
// whole.
func TestScriptsAndTransactionsArriveAsOne(t *testing.T) {
	res := withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.do("PING")
		if err := c.Eval(c.ctx, "redis.call('SET', KEYS[1], 1) redis.call('HSET', KEYS[2], 'f', ARGV[1]) "+
			"redis.call('PEXPIRE', KEYS[2], 5000)", []string{"a", "b"}, "v").Err(); err != nil && render(nil, err) != "nil" {
			t.Error(err)
		}
		tx := c.TxPipeline()
		tx.Set(c.ctx, "c", 1, 0)
		tx.Del(c.ctx, "a")
		tx.Eval(c.ctx, "return redis.call('SET', 'd', 2)", nil)
		if _, err := tx.Exec(c.ctx); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
	})
	got := texts(res.Trace, "r0a", "apply")
	if len(got) != 2 || !strings.HasPrefix(got[0], "r0: a=1, b=f=v until ") || got[1] != "r0: no a, c=1, d=2" {
		t.Errorf("applied %q", got)
	}
}

// TestReplicaRefusesWrites with Redis's error, also of scripts and
// transactions.
func TestReplicaRefusesWrites(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		r := c.at("r0a")
		const refusal = "READONLY You can't write against a read only replica."
		for _, write := range []string{
			"SET k v", "set k v", "DEL k", "INCR n", "HSET h f v", "LPUSH l 1", "BLPOP l 1", "ZADD z 1 m", "XADD x * f v",
			"PEXPIRE k 10", "GETEX k", "FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "PFADD p 1", "BLMOVE a b LEFT LEFT 1",
		} {
			r.want(write, refusal)
		}
		if err := r.Eval(c.ctx, "return redis.call('SET', 'k', 'v')", nil).Err(); err == nil ||
			!strings.HasPrefix(err.Error(), refusal) {
			t.Errorf("script: %v", err)
		}
		for _, read := range []string{"GET k", "HGETALL h", "PTTL k", "PING", "SCRIPT EXISTS 00", "PUBLISH c m", "SELECT 0",
			"WATCH k"} {
			if got := r.do(read); strings.Contains(got, "READONLY") {
				t.Errorf("%s: %s", read, got)
			}
		}
		tx := r.TxPipeline()
		tx.Set(c.ctx, "k", "v", 0)
		tx.Get(c.ctx, "k")
		if _, err := tx.Exec(c.ctx); err == nil || !strings.Contains(err.Error(), "EXECABORT") {
			t.Errorf("transaction: %v", err)
		}
		if keys := c.keys("r0a")[0]; len(keys) != 0 {
			t.Errorf("the replica has %q", keys)
		}
	})
}

// TestPrimaryReplicatesExpiry shows it, and that a replica hides keys by its
// own clock.
func TestPrimaryReplicatesExpiry(t *testing.T) {
	res := withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.want("SET k v PX 1000", "OK")
		time.Sleep(2 * time.Second) // no command reads it
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", time.Minute) })
		c.want("SET k v PX 1000", "OK") // expired for the replica
		time.Sleep(10 * time.Millisecond)
		c.at("r0a").want("GET k", "nil")
		c.at("r0a").want("DEL k", "READONLY You can't write against a read only replica.")
		c.want("GET k", "v")
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", -time.Minute) })
		c.at("r0a").want("GET k", "v") // it was only hidden
	})
	if got := texts(res.Trace, "r0a", "apply"); len(got) != 3 || got[1] != "r0: no k" {
		t.Errorf("applied %q", got)
	}
	if got := texts(res.Trace, "r0a", "expire"); len(got) != 1 {
		t.Errorf("the replica hid %q, want only the first k: it has never shown the second", got)
	}
}

// TestReplicationAcrossAPartition shows that held effects arrive late, and that
// a full synchronisation replaces lost ones.
func TestReplicationAcrossAPartition(t *testing.T) {
	for _, bytes := range faults.BytesModes() {
		t.Run(string(bytes), func(t *testing.T) {
			res := withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
				replica := c.at("r0a")
				c.want("SET before 1", "OK")
				time.Sleep(10 * time.Millisecond)
				c.world(func(w *sim.World) error {
					return w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, Bytes: bytes,
						For: time.Second})
				})
				c.want("SET meanwhile 1", "OK")
				c.want("DEL before", "1")
				time.Sleep(500 * time.Millisecond)
				replica.want("GET meanwhile", "nil")
				replica.want("GET before", "1")
				time.Sleep(600 * time.Millisecond)
				replica.want("GET meanwhile", "1")
				replica.want("GET before", "nil")
				c.want("SET after 1", "OK")
				time.Sleep(10 * time.Millisecond)
				replica.want("GET after", "1")
			})
			if got := len(texts(res.Trace, "r0a", "resync")); (got == 1) != (bytes == faults.BytesDrop) {
				t.Errorf("%d full synchronisations", got)
			}
		})
	}
}

// TestNothingPassesAfterAGap shows that a direction which has lost a message
// stays closed until the whole link has healed: otherwise a replica would skip
// an effect.
func TestNothingPassesAfterAGap(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		cut := func(dir faults.Direction, bytes faults.Bytes, d time.Duration) {
			c.world(func(w *sim.World) error {
				return w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, Direction: dir, Bytes: bytes,
					For: d})
			})
		}
		cut(faults.DirectionForward, faults.BytesDrop, 100*time.Millisecond)
		cut(faults.DirectionBackward, faults.BytesHold, time.Second)
		c.want("SET lost 1", "OK")
		time.Sleep(200 * time.Millisecond)
		c.want("SET later 1", "OK")
		time.Sleep(100 * time.Millisecond)
		if got := c.keys("r0a")[0]; len(got) != 0 {
			t.Errorf("the replica has %q, which was sent after a lost effect", got)
		}
		time.Sleep(time.Second)
		if got := c.keys("r0a")[0]; len(got) != 2 {
			t.Errorf("after the heal the replica has %q", got)
		}
	})
}

// TestQuietWaitsForReplication also waits for messages that a partition holds.
func TestQuietWaitsForReplication(t *testing.T) {
	cfg := sim.Config{Latency: exactly,
		Servers: []sim.Kind{simredis.Servers{Replicas: 1, Lag: sim.Latency{Min: time.Second, Max: time.Second}}}}
	run(t, cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { _ = redisclient.New(p, "r0").Set(p.Context(), "k", "v", 0).Err() })
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		if err := w.RunUntil(w.Quiet); err != nil {
			return err
		}
		if s, _ := simredis.On(w, "r0a"); len(s.Keys()) != 1 || w.Now() < time.Second {
			t.Errorf("quiet at %v with %d keys", w.Now(), len(s.Keys()))
		}
		return nil
	})
}
