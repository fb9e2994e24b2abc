package redis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
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
		"r0 k=a set by c0", "r0 k=b set by c0", "r0 k= deleted by c0",
		"r0 h=f=1 g=2 set by c0", "r0 h=f=2 g=2 set by c0", "r0 h= deleted by c0",
		"r0 k=2 set by c0", "r0 k= expired",
		"r0 k=a set by c0", "r0 k= flushed", "r0 k=a set by c0", "r0 k= flushed by c0",
		"r0 k=a set by c0", "r0 k= evicted",
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
	got := changes(t, with(simredis.Servers{Persistence: simredis.PersistEverysec}), []string{"k", "l", "m"}, func(c *client) {
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
		p.Go(func() { _ = simredis.Client(p, "r0").BLPop(p.Context(), 0, "list").Err() })
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
		"stopped":      {func(w *sim.World) error { return w.Faults().DriftClock("r0", -1_000_000, 3*time.Second) }, 13 * time.Second},
		"renewed":      {nil, 12 * time.Second},
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
			c.world(func(w *sim.World) error { all = w.KeyChanges(); return nil })
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
