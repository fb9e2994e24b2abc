package redis_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// changes are the changes of watched keys in a run, as text: "node key=value
// kind by".
func changes(t *testing.T, cfg sim.Config, keys []string, f func(c *client)) []string {
	t.Helper()
	var out []string
	withClient(t, cfg, func(c *client) {
		c.world(func(w *sim.World) error { w.WatchKeys(keys...); return nil })
		f(c)
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error {
			last := 0
			for _, k := range w.KeyChanges() {
				if k.Step < last || w.Trace().Events[k.Step-1].At != k.At {
					t.Errorf("%+v is not at its step, or before the one before it", k)
				}
				last = k.Step
				text := fmt.Sprintf("%s %s=%s %s", k.Server, k.Key, k.Value, k.Change)
				if k.By != "" {
					text += " by " + k.By
				}
				out = append(out, text)
			}
			return nil
		})
	})
	return out
}

func wantChanges(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestKeyChangesOfAPlainNode(t *testing.T) {
	got := changes(t, sim.Config{}, []string{"k", "h"}, func(c *client) {
		c.want("SET other v", "OK")
		c.want("SET k a PX 1000", "OK")
		c.want("SET k a PX 2000", "OK") // its TTL alone
		c.want("PEXPIRE k 3000", "1")
		c.want("GET k", "a")
		c.want("SETNX k b", "0")
		c.want("SET k b", "OK")
		c.want("DEL k other", "2")
		c.want("HSET h g 2 f 1", "2")
		c.want("HINCRBY h f 1", "2")
		c.want("HDEL h f g", "2")
		if err := c.Eval(c.ctx, "redis.call('SET', 'k', 1) redis.call('SET', 'k', 2)", nil).Err(); err != redis.Nil { //nolint:errorlint // as it comes
			t.Error(err)
		}
		c.want("PEXPIRE k 500", "1")
		time.Sleep(time.Second)
		c.want("SET k a", "OK")
		c.world(flush("r0", faults.FlushKeys))
		c.want("SET k a", "OK")
		c.want("FLUSHALL", "OK")
		c.want("SET k a", "OK")
		c.world(func(w *sim.World) error {
			return faults.Evict{Node: "r0", Policy: faults.EvictAllKeysLRU, Keys: 1}.Apply(w.Faults())
		})
		c.want("SELECT 1", "OK")
		c.want("SET k elsewhere", "OK")
	})
	wantChanges(t, got,
		"r0 k=a set by c0", "r0 k=a prolonged by c0", "r0 k=a prolonged by c0", "r0 k=b set by c0", "r0 k= deleted by c0",
		"r0 h=f=1 g=2 set by c0", "r0 h=f=2 g=2 set by c0", "r0 h= deleted by c0",
		"r0 k=2 set by c0", "r0 k=2 prolonged by c0", "r0 k= expired",
		"r0 k=a set by c0", "r0 k= flushed", "r0 k=a set by c0", "r0 k= flushed by c0",
		"r0 k=a set by c0", "r0 k= evicted",
	)
}

// history are the changes of watched keys in a run, with what they changed and the time that the key had left by the
// clock of its server: "node key=value kind by (request), over value of client, left".
func history(t *testing.T, cfg sim.Config, keys []string, f func(c *client)) []string {
	t.Helper()
	var out []string
	withClient(t, cfg, func(c *client) {
		c.world(func(w *sim.World) error { w.WatchKeys(keys...); return nil })
		f(c)
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error {
			for _, k := range w.KeyChanges() {
				text := fmt.Sprintf("%s %s=%s %s", k.Server, k.Key, k.Value, k.Change)
				event := w.Trace().Events[k.Step-1]
				if k.By != "" {
					x, ok := event.What.(trace.Exec)
					if !ok || event.Peer != k.Asked || k.Asked != k.By || trace.KindOf(x.Request) != k.Request {
						t.Errorf("%+v: step %d is %s", k, k.Step, event.String())
					}
					text += fmt.Sprintf(" by %s (%s)", k.By, k.Request)
				}
				if k.Over {
					text += fmt.Sprintf(", over %s of %s", k.Was, k.WasOf)
				}
				k.Left.Time = k.Left.Time.Round(time.Millisecond)
				out = append(out, fmt.Sprintf("%s, %v", text, k.Left))
			}
			return nil
		})
	})
	return out
}

// TestKeyChangesInFull shows what a server records of each change: what made it, what it replaced, and the time that
// the key had left by the server's clock.
func TestKeyChangesInFull(t *testing.T) {
	one := sim.Config{Latency: sim.Latency{Min: time.Millisecond, Max: time.Millisecond}, Clients: 2}
	const later = 998 * time.Millisecond // and 2 ms on the wire
	for _, tt := range []struct {
		name string
		f    func(c *client)
		want []string
	}{
		{"set and deleted", func(c *client) {
			c.want("SET k a", "OK")
			c.want("SET k a", "OK") // as it was
			c.want("DEL k", "1")
		}, []string{"r0 k=a set by c0 (set), no key", "r0 k= deleted by c0 (del), no end"}},
		{"prolonged, and shortened", func(c *client) {
			c.want("SET k a PX 5000", "OK")
			time.Sleep(later)
			c.want("PEXPIRE k 7000", "1")
			time.Sleep(later)
			c.want("SET k a XX PX 3000", "OK")
			time.Sleep(later)
			c.want("PERSIST k", "1")
			c.want("EXPIRE k 100", "1")
		}, []string{
			"r0 k=a set by c0 (set), no key", "r0 k=a prolonged by c0 (pexpire), 4s", "r0 k=a prolonged by c0 (set), 6s",
			"r0 k=a prolonged by c0 (persist), 2s", "r0 k=a prolonged by c0 (expire), no end",
		}},
		{"prolonged by a script", func(c *client) {
			c.want("SET k a PX 5000", "OK")
			time.Sleep(later)
			if err := c.Eval(c.ctx, "-- extend\nreturn redis.call('PEXPIRE', KEYS[1], 9000)", []string{"k"}).Err(); err != nil {
				t.Error(err)
			}
		}, []string{"r0 k=a set by c0 (set), no key", "r0 k=a prolonged by c0 (script [extend]), 4s"}},
		{"overwritten", func(c *client) {
			c.want("SET k a PX 5000", "OK")
			time.Sleep(later)
			c.p = c.w.Client(1)
			c.at("r0").want("SET k b PX 5000", "OK")
		}, []string{"r0 k=a set by c0 (set), no key", "r0 k=b set by c1 (set), over a of c0, 3.996s"}},
		{"expired", func(c *client) {
			c.want("SET k a PX 5000", "OK")
			time.Sleep(6 * time.Second)
		}, []string{"r0 k=a set by c0 (set), no key", "r0 k= expired, 0s"}},
		{"expired by a jump of the clock", func(c *client) {
			c.want("SET k a PX 5000", "OK")
			c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0", 7*time.Second) })
			time.Sleep(time.Second)
		}, []string{"r0 k=a set by c0 (set), no key", "r0 k= expired, -2.001s"}},
		{"a field of a hash", func(c *client) {
			c.want("HSET k f 1", "1")
			c.want("HEXPIRE k 5 FIELDS 1 f", "[1]")
			time.Sleep(later)
			c.want("DEL k", "1")
		}, []string{"r0 k=f=1 set by c0 (hset), no key", "r0 k=f=1 prolonged by c0 (hexpire), no end",
			"r0 k= deleted by c0 (del), 4s"}},
		{"in a transaction", func(c *client) {
			_, err := c.TxPipelined(c.ctx, func(p redis.Pipeliner) error {
				p.Set(c.ctx, "k", "a", time.Second)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}, []string{"r0 k=a set by c0 (exec), no key"}},
	} {
		t.Run(tt.name, func(t *testing.T) { wantChanges(t, history(t, one, []string{"k"}, tt.f), tt.want...) })
	}
}

// TestKeyChangesOfAFollowerInFull shows that a replica has the time left by its own clock, and that no request is named
// for what it gets from its primary, from its disk or by a promotion.
func TestKeyChangesOfAFollowerInFull(t *testing.T) {
	cfg := with(simredis.Servers{Replicas: 1, Persistence: simredis.PersistAlways})
	wantChanges(t, history(t, cfg, []string{"k"}, func(c *client) {
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", time.Second) })
		c.want("SET k a PX 9000", "OK")
		time.Sleep(998 * time.Millisecond)
		c.want("PEXPIRE k 9000", "1")
		time.Sleep(998 * time.Millisecond)
		c.want("SET k b PX 9000", "OK")
		time.Sleep(998 * time.Millisecond)
		c.world(crash("r0", faults.CrashPower))
		time.Sleep(time.Second)
		c.world(restart("r0"))
		time.Sleep(time.Second)
		c.world(promote(faults.Failover{Old: faults.OldServing}))
		time.Sleep(time.Second)
	}),
		"r0 k=a set by c0 (set), no key", "r0a k=a replicated, no key",
		"r0 k=a prolonged by c0 (pexpire), 8s", "r0a k=a prolonged, 6.999s",
		"r0 k=b set by c0 (set), over a of c0, 8s", "r0a k=b replicated, 6.999s",
		"r0 k=b restored, 7.001s", "r0a k=b restored, 5.999s", "r0a k=b restored, 5.001s",
	)
}

// TestKeyChangesOfAFailover shows that each node reports its own changes.
func TestKeyChangesOfAFailover(t *testing.T) {
	got := changes(t, replicated, []string{"k", "l"}, func(c *client) {
		c.want("SET k a", "OK")
		time.Sleep(200 * time.Millisecond)
		c.want("SET k b", "OK")
		c.want("SET l c", "OK")
		c.world(promote(faults.Failover{Old: faults.OldDemoted}))
		p := c.at(simredis.Primary)
		time.Sleep(200 * time.Millisecond)
		p.want("DEL k", "1")
		time.Sleep(200 * time.Millisecond)
	})
	wantChanges(t, got,
		"r0 k=a set by c0", "r0a k=a replicated",
		"r0 k=b set by c0", "r0 l=c set by c0",
		"r0a k=a restored",
		"r0 k=a restored", "r0 l= restored",
		"r0a k= deleted by c0", "r0 k= replicated",
	)
}

// TestKeyChangesOnAReplica shows that it hides keys, and shows them again, by
// its own clock.
func TestKeyChangesOnAReplica(t *testing.T) {
	got := changes(t, with(simredis.Servers{Replicas: 1}), []string{"k"}, func(c *client) {
		c.want("SET k a PX 5000", "OK")
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", time.Minute) })
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", -time.Minute) })
		c.at("r0a").want("GET k", "a")
		time.Sleep(10 * time.Second)
	})
	wantChanges(t, got,
		"r0 k=a set by c0", "r0a k=a replicated", "r0a k= expired", "r0a k=a restored",
		"r0 k= expired", "r0a k= expired",
	)
}

// TestKeyChangesOfARestart shows the changes at a restart, also of keys that
// have expired meanwhile.
func TestKeyChangesOfARestart(t *testing.T) {
	got := changes(t, with(simredis.Servers{Persistence: simredis.PersistEverysec}), []string{"k", "l", "m"},
		func(c *client) {
			c.want("SET k a", "OK")
			c.want("SET m a PX 2000", "OK")
			time.Sleep(1100 * time.Millisecond)
			c.want("SET l a", "OK")
			c.world(crash("r0", faults.CrashPower))
			time.Sleep(2 * time.Second)
			c.world(restart("r0"))
			c.at("r0").want("SET l b", "OK")
		})
	wantChanges(t, got,
		"r0 k=a set by c0", "r0 m=a set by c0", "r0 l=a set by c0",
		"r0 k=a restored", "r0 l= restored", "r0 m= restored", "r0 l=b set by c0",
	)
}

// TestKeyChangesOfBlockedClients shows that the change is that of the client
// that gets the element, not of the one that pushed it.
func TestKeyChangesOfBlockedClients(t *testing.T) {
	got := changes(t, sim.Config{Clients: 2}, []string{"list"}, func(c *client) {
		p := c.w.Client(1)
		p.Go(func() { _ = redisclient.New(p, "r0").BLPop(p.Context(), 0, "list").Err() })
		time.Sleep(10 * time.Millisecond)
		c.want("RPUSH list x", "1")
	})
	wantChanges(t, got, "r0 list=x set by c0", "r0 list= deleted by c1")
}

// TestKeyChangesAtTheirInstants shows that a key which is not read expires in
// time by the node's clock, also if the clock changes meanwhile.
func TestKeyChangesAtTheirInstants(t *testing.T) {
	for what, tt := range map[string]struct {
		change func(w *sim.World) error
		want   time.Duration // after it was set
	}{
		"nothing":      {func(*sim.World) error { return nil }, 10 * time.Second},
		"jump forward": {func(w *sim.World) error { return w.Faults().JumpClock("r0", 4*time.Second) }, 6 * time.Second},
		"jump back":    {func(w *sim.World) error { return w.Faults().JumpClock("r0", -4*time.Second) }, 14 * time.Second},
		"far forward":  {func(w *sim.World) error { return w.Faults().JumpClock("r0", time.Minute) }, 2 * time.Second},
		"fast":         {func(w *sim.World) error { return w.Faults().DriftClock("r0", 1_000_000, 0) }, 6 * time.Second},
		"slow":         {func(w *sim.World) error { return w.Faults().DriftClock("r0", -500_000, 0) }, 18 * time.Second},
		"stopped": {func(w *sim.World) error { return w.Faults().DriftClock("r0", -1_000_000, 3*time.Second) },
			13 * time.Second},
		"renewed": {nil, 12 * time.Second},
	} {
		withClient(t, sim.Config{}, func(c *client) {
			c.world(func(w *sim.World) error { w.WatchKeys("k"); return nil })
			c.want("SET k v PX 10000", "OK")
			time.Sleep(1999 * time.Millisecond) // 2 s after its execution, with the latency of the reply
			if tt.change == nil {
				c.want("PEXPIRE k 10000", "1")
			} else {
				c.world(tt.change)
			}
			time.Sleep(time.Minute)
			var all []trace.KeyChange
			c.world(func(w *sim.World) error { all = slices.Clone(w.KeyChanges()); return nil })
			all = slices.DeleteFunc(all, func(k trace.KeyChange) bool { return k.Change == trace.KeyProlonged })
			if len(all) != 2 || all[1].Change != trace.KeyExpired {
				t.Errorf("%s: changes %+v", what, all)
				return
			}
			if got := all[1].At - all[0].At; got < tt.want || got > tt.want+2*time.Millisecond {
				t.Errorf("%s: it expired after %v, want %v", what, got, tt.want)
			}
		})
	}
}
