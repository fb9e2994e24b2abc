package redis_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// replicated is a world in which a replica lags by 100 ms.
var replicated = with(simredis.Servers{Replicas: 1, Lag: sim.Latency{Min: 100 * time.Millisecond,
	Max: 100 * time.Millisecond}})

func promote(f faults.Failover) func(w *sim.World) error {
	return func(w *sim.World) error { return w.Faults().Promote(f) }
}

// TestFailoverLosesWhatWasNotReplicated shows that a key and an increment are
// lost, and that a deleted key exists again (F09, F40, F43).
func TestFailoverLosesWhatWasNotReplicated(t *testing.T) {
	res := withClient(t, replicated, func(c *client) {
		p := c.at(simredis.Primary)
		p.want("SET released a PX 60000", "OK")
		p.want("INCR counter", "1")
		time.Sleep(200 * time.Millisecond)
		p.want("DEL released", "1")
		p.want("SET lock b PX 60000", "OK")
		p.want("INCR counter", "2")
		c.world(promote(faults.Failover{}))
		time.Sleep(200 * time.Millisecond) // effects under way arrive too late
		if got := p.do("GET lock"); !strings.Contains(got, "reset") {
			t.Errorf("on the old connection: %s", got)
		}
		p.want("GET lock", "nil")
		p.want("INCR counter", "2")
		p.want("GET released", "a")
		p.between("PTTL released", 59_000, 60_000)
	})
	want := []string{"r0a: old primary r0 fenced, with 2 of its 5 effects"}
	if diff := cmp.Diff(want, texts(res.Trace, "world", "promote")); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

// TestFailoverOfWhatWasReplicated is the same without a lag: nothing is lost.
func TestFailoverOfWhatWasReplicated(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.want("INCR counter", "1")
		time.Sleep(10 * time.Millisecond)
		c.world(promote(faults.Failover{}))
		c.at(simredis.Primary).want("INCR counter", "2")
	})
}

// TestOldPrimaryFenced shows that connections are reset and dials refused.
func TestOldPrimaryFenced(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		conn := dial(c.p, "r0")
		c.world(promote(faults.Failover{Old: faults.OldFenced}))
		if err := readErr(conn); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("on an old connection: %v", err)
		}
		if _, err := c.p.Dial(c.ctx, "tcp", "r0"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v", err)
		}
		if got := c.keys("r0")[0]; got != nil {
			t.Errorf("it has %q", got)
		}
		c.world(func(w *sim.World) error { return w.Faults().Restart("r0") })
		c.at("r0").want("SET k v", "READONLY You can't write against a read only replica.")
		c.at(simredis.Primary).want("SET k v", "OK")
		time.Sleep(10 * time.Millisecond)
		c.at("r0").want("GET k", "v")
	})
}

// TestSplitBrain shows that the old primary serves clients that are connected
// or still resolve to it, and that the data of the two diverge (F42).
func TestSplitBrain(t *testing.T) {
	res := run(t, sim.Config{Clients: 2, Latency: exactly, Servers: []sim.Kind{simredis.Servers{Replicas: 1}}},
		func(w *sim.World) error {
			for i := range 2 {
				p := w.Client(i)
				r := redisclient.New(p, simredis.Primary)
				p.Go(func() {
					mark(p, "counts %d", r.Incr(p.Context(), "n").Val())
					time.Sleep(time.Second)
					fresh := redisclient.New(p, simredis.Primary) // with a new connection
					for range 3 {
						mark(p, "counts %d", fresh.Incr(p.Context(), "n").Val())
					}
					mark(p, "on its old connection %d", r.Incr(p.Context(), "n").Val())
				})
			}
			w.At(500*time.Millisecond, func() {
				if err := w.Faults().Promote(faults.Failover{Old: faults.OldServing, Clients: []string{"c1"}}); err != nil {
					t.Error(err)
				}
			})
			if err := w.RunUntil(w.Idle); err != nil {
				return err
			}
			if n, err := w.Node(simredis.Primary); err != nil || n.Name() != "r0a" {
				t.Errorf("the primary is %v, %v", n, err)
			}
			return nil
		})
	// c0 still increments at r0, and c1 does while it keeps its connection.
	last := func(client string) string {
		all := texts(res.Trace, client, "point")
		return all[len(all)-1]
	}
	a, b := texts(res.Trace, "c0", "point")[1:4], texts(res.Trace, "c1", "point")[1:4]
	if want := []string{": counts 3", ": counts 4", ": counts 5"}; cmp.Diff(want, b) != "" {
		t.Errorf("c1, at the new primary: %q", b)
	}
	if a[0] != ": counts 3" {
		t.Errorf("c0, at the old primary: %q", a)
	}
	if l0, l1 := last("c0"), last("c1"); l0 == l1 {
		t.Errorf("both increments on the old connection give %q", l0)
	}
}

// TestDemotedPrimaryLosesItsWrites shows that it also closes its clients'
// connections, and follows the new primary.
func TestDemotedPrimaryLosesItsWrites(t *testing.T) {
	res := withClient(t, replicated, func(c *client) {
		c.want("SET old 1", "OK")
		time.Sleep(200 * time.Millisecond)
		c.want("SET lost 1", "OK")
		conn := dial(c.p, "r0")
		c.world(promote(faults.Failover{Old: faults.OldDemoted}))
		if err := readErr(conn); !errors.Is(err, io.EOF) {
			t.Errorf("on an old connection: %v", err)
		}
		old, p := c.at("r0"), c.at(simredis.Primary)
		old.want("SET k v", "READONLY You can't write against a read only replica.")
		p.want("SET new 1", "OK")
		time.Sleep(250 * time.Millisecond)
		old.want("GET lost", "nil")
		old.want("GET new", "1")
		if got := c.keys("r0", "r0a"); cmp.Diff(got[0], got[1]) != "" || len(got[0]) != 2 {
			t.Errorf("r0 and r0a have %q", got)
		}
		// And back again.
		c.world(promote(faults.Failover{To: "r0", Old: faults.OldDemoted}))
		p = c.at(simredis.Primary)
		p.want("SET back 1", "OK")
		if got := c.keys("r0")[0]; len(got) != 3 {
			t.Errorf("r0 has %q", got)
		}
	})
	if got := texts(res.Trace, "r0", "resync"); len(got) != 1 {
		t.Errorf("full synchronisations of r0: %q", got)
	}
}

// TestPromotionDropsWhatHasExpired by the new primary's clock (F44).
func TestPromotionDropsWhatHasExpired(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 2}), func(c *client) {
		c.want("SET k v PX 10000", "OK")
		c.want("SET stays v PX 100000", "OK")
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", time.Minute) })
		c.world(promote(faults.Failover{}))
		c.world(func(w *sim.World) error { return w.Faults().JumpClock("r0a", -time.Minute) })
		p := c.at(simredis.Primary)
		p.want("GET k", "nil")
		p.want("GET stays", "v")
		time.Sleep(10 * time.Millisecond)
		c.at("r0b").want("GET k", "nil") // it follows the new primary
		p.want("SET k w", "OK")
		time.Sleep(10 * time.Millisecond)
		c.at("r0b").want("GET k", "w")
	})
}

// TestScriptsAreNotReplicated shows that a new primary replies NOSCRIPT to a
// client that calls a script by its hash.
func TestScriptsAreNotReplicated(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		p := c.at(simredis.Primary)
		sha, err := p.ScriptLoad(c.ctx, "return 1").Result()
		if err != nil {
			t.Error(err)
		}
		p.want("EVALSHA "+sha+" 0", "1")
		c.world(promote(faults.Failover{Old: faults.OldServing}))
		c.at(simredis.Primary).want("EVALSHA "+sha+" 0", "NOSCRIPT No matching script. Please use EVAL.")
		p.want("EVALSHA "+sha+" 0", "1") // on its old connection, to r0
	})
}

// TestWhatIsUnderWayWhenThePrimaryCrashes shows that effects which it had not
// sent are lost, and that those on the wire arrive.
func TestWhatIsUnderWayWhenThePrimaryCrashes(t *testing.T) {
	for _, lag := range []time.Duration{0, 50 * time.Millisecond} {
		withClient(t, with(simredis.Servers{Replicas: 1, Lag: sim.Latency{Min: lag, Max: lag}}), func(c *client) {
			conn := dial(c.p, "r0")
			mustWrite(conn, "SET k v\r\n")
			c.world(func(*sim.World) error { return nil })
			time.Sleep(time.Millisecond + 500*time.Microsecond) // done, and on the wire for 0.5 ms
			c.world(func(w *sim.World) error { return w.Faults().Crash("r0", faults.CrashPower) })
			time.Sleep(time.Second)
			c.world(promote(faults.Failover{}))
			want := map[bool]string{true: "v", false: "nil"}[lag == 0]
			c.at(simredis.Primary).want("GET k", want)
		})
	}
}
