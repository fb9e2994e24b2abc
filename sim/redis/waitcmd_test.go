package redis_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
)

// timed sends a command, and checks the reply and its time.
func (c *client) timed(line, answer string, low, high time.Duration) {
	c.t.Helper()
	at := c.w.Now()
	c.want(line, answer)
	if took := c.w.Now() - at; took < low || took > high {
		c.t.Errorf("%s took %v, want %v to %v", line, took, low, high)
	}
}

// With a latency of 1 ms a command takes 2 ms, and a request to a replica 2 ms
// more.
const roundTrip, atMost = 2 * time.Millisecond, 10 * time.Microsecond

func TestWaitAsksTheReplicas(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 2}), func(c *client) {
		c.want("PING", "PONG")
		c.timed("WAIT 2 0", "2", roundTrip, roundTrip+atMost) // nothing was written
		c.want("SET k v", "OK")
		c.timed("WAIT 2 0", "2", 2*roundTrip, 2*roundTrip+atMost)
		c.timed("WAIT 2 0", "2", roundTrip, roundTrip+atMost)
		c.want("SET k w", "OK")
		c.timed("WAIT 3 500", "2", roundTrip+500*time.Millisecond, roundTrip+500*time.Millisecond+atMost)
		c.want("SET k x", "OK")
		c.want("WAIT 0 0", "0") // no replica has acknowledged yet
	})
}

// TestWaitWaitsForTheLag, and for a partition to heal.
func TestWaitWaitsForTheLag(t *testing.T) {
	lag := sim.Latency{Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}
	withClient(t, with(simredis.Servers{Replicas: 2, Lag: lag}), func(c *client) {
		c.want("SET k v", "OK")
		c.timed("WAIT 1 50", "0", 50*time.Millisecond+roundTrip, 50*time.Millisecond+roundTrip+atMost)
		c.timed("WAIT 2 0", "2", 52*time.Millisecond, 53*time.Millisecond) // the first acknowledgements suffice
		for _, bytes := range faults.BytesModes() {
			c.world(func(w *sim.World) error {
				return w.Faults().Cut(faults.Partition{Between: []string{"r0b"}, And: []string{"r0"}, Bytes: bytes,
					For: time.Second})
			})
			c.want("SET k "+string(bytes), "OK")
			c.want("WAIT 2 500", "1")
			c.timed("WAIT 2 0", "2", 300*time.Millisecond, 800*time.Millisecond)
		}
	})
}

// TestWaitDoesNotSave shows a write that is lost since another replica is
// promoted than the one that acknowledged it (F41).
func TestWaitDoesNotSave(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 2}), func(c *client) {
		c.world(func(w *sim.World) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"r0b"}, And: []string{"r0"}})
		})
		c.want("SET lock a", "OK")
		c.want("WAIT 1 1000", "1")
		c.world(promote(faults.Failover{To: "r0b"}))
		c.at(simredis.Primary).want("GET lock", "nil")
	})
}

func TestWaitWithoutReplicas(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v", "OK")
		c.timed("WAIT 0 0", "0", roundTrip, roundTrip+atMost)
		c.timed("WAIT 1 100", "0", 100*time.Millisecond+roundTrip, 100*time.Millisecond+roundTrip+atMost)
		c.want("WAIT -1 0", "0")
		c.want("WAIT x 0", "ERR value is not an integer or out of range")
		c.want("WAIT 1 x", "ERR timeout is not an integer or out of range")
		c.want("WAIT 1 -1", "ERR timeout is negative")
		c.want("WAIT 1", "ERR wrong number of arguments for 'wait' command")
	})
}

// TestWaitWithoutBlocking shows that WAIT does not block in a transaction, and
// is refused in a script and on a replica.
func TestWaitWithoutBlocking(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.want("SET k v", "OK")
		c.want("WAIT 1 0", "1")
		for _, want := range []string{"[OK 1 0 v]", "[OK 0 0 v]"} { // the first SET is not acknowledged at the second WAIT
			tx := c.TxPipeline()
			set, wait := tx.Set(c.ctx, "k", "v", 0), tx.Do(c.ctx, "WAIT", 1, 1000)
			exists, get := tx.Exists(c.ctx, "none"), tx.Get(c.ctx, "k")
			if _, err := tx.Exec(c.ctx); err != nil {
				t.Error(err)
			}
			if got := fmt.Sprint([]any{set.Val(), wait.Val(), exists.Val(), get.Val()}); got != want {
				t.Errorf("EXEC answers %s, want %s", got, want)
			}
			c.want("SET k w", "OK")
		}
		err := c.Eval(c.ctx, "return redis.call('WAIT', 1, 100)", nil).Err()
		if err == nil || !strings.HasPrefix(err.Error(), "ERR This Redis command is not allowed from script") {
			t.Errorf("in a script: %v", err)
		}
		if got := c.at("r0a").do("WAIT 1 100"); !strings.HasPrefix(got, "ERR WAIT cannot be used with replica instances.") {
			t.Errorf("on a replica: %s", got)
		}
	})
}

// TestCommandsBehindWait shows that commands which a client sends behind a WAIT
// wait too, and that a client that closes its connection gets no reply.
func TestCommandsBehindWait(t *testing.T) {
	res := withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.world(crash("r0a", faults.CrashPower))
		conn := dial(c.p, "r0")
		mustWrite(conn, "SET k v\r\nWAIT 1 100\r\nGET k\r\n")
		time.Sleep(50 * time.Millisecond)
		b := make([]byte, 100)
		n, _ := conn.Read(b)
		if got := string(b[:n]); got != "+OK\r\n" {
			t.Errorf("while it waits: %q", got)
		}
		time.Sleep(100 * time.Millisecond)
		const want = ":0\r\n$1\r\nv\r\n"
		if n, err := io.ReadAtLeast(conn, b, len(want)); err != nil || string(b[:n]) != want {
			t.Errorf("afterwards: %q %v", b[:n], err)
		}
		mustWrite(conn, "SET k w\r\nWAIT 1 100\r\nGET k\r\n")
		_ = conn.Close()
		time.Sleep(time.Second)
	})
	want := []string{
		"c0: SET k v -> OK", "c0: WAIT 1 100 -> (waits)", "c0: WAIT 1 100 -> 0", "c0: GET k -> v",
		"c0: SET k w -> OK", "c0: WAIT 1 100 -> (waits)",
	}
	if diff := cmp.Diff(want, texts(res.Trace, "r0", "exec")); diff != "" {
		t.Errorf("r0 did (-want +got):\n%s", diff)
	}
}
