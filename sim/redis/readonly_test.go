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
)

// TestRefuseWrites shows that reads are served and keys expire meanwhile.
func TestRefuseWrites(t *testing.T) {
	const refusal = "READONLY You can't write against a read only replica."
	res := withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v PX 500", "OK")
		c.world(func(w *sim.World) error { return w.Faults().RefuseWrites("r0", time.Second) })
		c.world(func(w *sim.World) error { return w.Faults().RefuseWrites("r0", 2*time.Second) })
		c.want("SET k w", refusal)
		c.want("GET k", "v")
		time.Sleep(600 * time.Millisecond)
		c.want("GET k", "nil")
		time.Sleep(600 * time.Millisecond) // the first fault has ended
		c.want("SET k w", refusal)
		time.Sleep(time.Second)
		c.want("SET k w", "OK")
		c.world(func(w *sim.World) error { return w.Faults().RefuseWrites("r0", 0) })
		time.Sleep(time.Minute)
		c.want("DEL k", refusal)
		c.world(func(w *sim.World) error { w.Heal(); return nil })
		c.want("DEL k", "1")
		c.world(func(w *sim.World) error {
			if w.Faults().RefuseWrites("r9", 0) == nil || w.Faults().RefuseWrites("r0", -1) == nil {
				t.Error("no error for an unknown node, or a negative duration")
			}
			return nil
		})
	})
	want := []string{"r0: for 1s", "r0: for 2s", "r0: until healed"}
	if diff := cmp.Diff(want, texts(res.Trace, "world", "read-only")); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if got := texts(res.Trace, "world", "read-only-end"); len(got) != 3 {
		t.Errorf("ends %q", got)
	}
}

// TestRefusalIsForClients shows that writes of an administrator or of the node
// itself go on.
func TestRefusalIsForClients(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("MSET a 1 b 2", "OK")
		c.world(func(w *sim.World) error { return w.Faults().RefuseWrites("r0", 0) })
		c.world(func(w *sim.World) error {
			return faults.Evict{Node: "r0", Policy: faults.EvictAllKeysRandom, Keys: 1}.Apply(w.Faults())
		})
		c.want("DBSIZE", "1")
		c.world(flush("r0", faults.FlushKeys))
		c.want("DBSIZE", "0")
	})
}

// TestTransactionAcrossTheRefusal shows that writes queued before are not
// executed after.
func TestTransactionAcrossTheRefusal(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		conn := dial(c.p, "r0")
		say := func(line string) string {
			mustWrite(conn, line+"\r\n")
			b := make([]byte, 200)
			n, err := conn.Read(b)
			return strings.TrimSpace(fmt.Sprintf("%s%v", b[:n], map[bool]any{true: "", false: err}[err == nil]))
		}
		say("MULTI")
		say("SET k v")
		c.world(func(w *sim.World) error { return w.Faults().RefuseWrites("r0", time.Second) })
		if got, want := say("EXEC"), "-EXECABORT Transaction discarded because of: READONLY You can't write against a read "+
			"only replica."; got != want {
			t.Errorf("EXEC answers %q, want %q", got, want)
		}
		if got := say("EXEC"); got != "-ERR EXEC without MULTI" {
			t.Errorf("a second EXEC answers %q", got)
		}
		say("MULTI")
		say("GET k")
		if got := say("EXEC"); got != "*1\r\n$-1" {
			t.Errorf("a transaction of reads answers %q", got)
		}
	})
}

// TestRefusalOutlivesAPromotion shows that a replica under the fault still
// refuses writes when it becomes the primary.
func TestRefusalOutlivesAPromotion(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.world(func(w *sim.World) error { return w.Faults().RefuseWrites("r0a", time.Second) })
		c.world(promote(faults.Failover{}))
		p := c.at(simredis.Primary)
		if got := p.do("SET k v"); !strings.HasPrefix(got, "READONLY") {
			t.Errorf("during the refusal: %s", got)
		}
		time.Sleep(time.Second)
		p.want("SET k v", "OK")
	})
}
