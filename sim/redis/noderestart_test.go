package redis_test

import (
	"context"
	"errors"
	"fmt"
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
	"locksim/sim/store"
)

// crash crashes a node, and restart starts it again.
func crash(node string, mode faults.CrashMode) func(w *sim.World) error {
	return func(w *sim.World) error { return w.Faults().Crash(node, mode) }
}

func restart(node string) func(w *sim.World) error {
	return func(w *sim.World) error { return w.Faults().Restart(node) }
}

// TestWhatACrashLeaves for each kind of persistence and of crash. Keys are set
// 300 ms into the 5th, 65th and 69th second, a snapshot is taken each minute,
// and the crash is 600 ms into the 69th second, or 200 ms into the 70th.
func TestWhatACrashLeaves(t *testing.T) {
	for _, tt := range []struct {
		persistence simredis.Persistence
		mode        faults.CrashMode
		at          time.Duration
		want        string
	}{
		{simredis.PersistNone, faults.CrashProcess, 69600, ""},
		{simredis.PersistNone, faults.CrashPower, 69600, ""},
		{simredis.PersistRDB, faults.CrashProcess, 69600, "k5"},
		{simredis.PersistRDB, faults.CrashPower, 69600, "k5"},
		{simredis.PersistEverysec, faults.CrashProcess, 69600, "k5 k65 k69"},
		{simredis.PersistEverysec, faults.CrashPower, 69600, "k5 k65"},
		{simredis.PersistEverysec, faults.CrashPower, 70200, "k5 k65 k69"},
		{simredis.PersistAlways, faults.CrashProcess, 69600, "k5 k65 k69"},
		{simredis.PersistAlways, faults.CrashPower, 69600, "k5 k65 k69"},
	} {
		t.Run(fmt.Sprint(tt.persistence, tt.mode, tt.at), func(t *testing.T) {
			withClient(t, with(simredis.Servers{Persistence: tt.persistence}), func(c *client) {
				for _, second := range []int{5, 65, 69} {
					sleepUntil(c, time.Duration(second)*time.Second+300*time.Millisecond)
					c.want(fmt.Sprintf("SET k%d v", second), "OK")
				}
				sleepUntil(c, tt.at*time.Millisecond)
				c.world(crash("r0", tt.mode))
				time.Sleep(10 * time.Millisecond)
				c.world(restart("r0"))
				keys, err := redisclient.New(c.p, "r0").Do(c.ctx, "KEYS", "*").StringSlice()
				if got := strings.Join(keys, " "); err != nil || got != tt.want {
					t.Errorf("keys %q (%v), want %q", got, err, tt.want)
				}
			})
		})
	}
}

func sleepUntil(c *client, at time.Duration) { time.Sleep(at - c.w.Now()) }

// TestTimePassesWhileANodeIsDown shows that keys which expire meanwhile by its
// clock are not restored.
func TestTimePassesWhileANodeIsDown(t *testing.T) {
	withClient(t, with(simredis.Servers{Persistence: simredis.PersistAlways}), func(c *client) {
		c.want("SET short v PX 5000", "OK")
		c.want("SET long v PX 20000", "OK")
		c.want("HSET h f v", "1")
		c.world(crash("r0", faults.CrashProcess))
		time.Sleep(10 * time.Second)
		c.world(restart("r0"))
		r := c.at("r0")
		r.want("EXISTS short", "0")
		r.between("PTTL long", 9_900, 10_000)
		r.want("HGETALL h", "[f v]")
		r.want("TTL h", "-1")
		time.Sleep(10 * time.Second)
		r.want("EXISTS long", "0")
	})
}

// TestRestartForgets scripts, blocked commands and subscriptions.
func TestRestartForgets(t *testing.T) {
	withClient(t, with(simredis.Servers{Persistence: simredis.PersistAlways}), func(c *client) {
		sha := c.ScriptLoad(c.ctx, "return 1").Val()
		c.p.Go(func() {
			conn := dial(c.p, "r0")
			mustWrite(conn, "BLPOP list 0\r\n")
			if err := readErr(conn); !errors.Is(err, io.EOF) {
				t.Errorf("a blocked command: %v", err)
			}
		})
		c.p.Go(func() {
			conn := dial(c.p, "r0")
			mustWrite(conn, "SUBSCRIBE c\r\n")
			if b, err := io.ReadAll(conn); err != nil || strings.Contains(string(b), "message") {
				t.Errorf("a subscriber: %q %v", b, err)
			}
		})
		time.Sleep(10 * time.Millisecond)
		c.world(crash("r0", faults.CrashProcess))
		c.world(restart("r0"))
		r := c.at("r0")
		r.want("EVALSHA "+sha+" 0", "NOSCRIPT No matching script. Please use EVAL.")
		r.want("PUBLISH c m", "0")
		r.want("RPUSH list x", "1")
		r.want("LLEN list", "1") // no client has taken it
	})
}

// TestConnectionsOfACrashedNode shows that clients are notified when a process
// ends and not when a machine loses power, and that a restarted server resets
// old connections.
func TestConnectionsOfACrashedNode(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		conn := dial(c.p, "r0")
		c.world(crash("r0", faults.CrashProcess))
		c.world(crash("r0", faults.CrashPower)) // too late
		if err := readErr(conn); !errors.Is(err, io.EOF) {
			t.Errorf("after a process crash: %v", err)
		}
		mustWrite(conn, "PING\r\n")
		time.Sleep(10 * time.Millisecond)
		if err := writeErr(conn); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("sent to a crashed process: %v", err)
		}
		if _, err := c.p.Dial(c.ctx, "tcp", "r0"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v", err)
		}
	})
	withClient(t, sim.Config{}, func(c *client) {
		idle, busy := dial(c.p, "r0"), dial(c.p, "r0")
		c.world(crash("r0", faults.CrashPower))
		mustWrite(busy, "PING\r\n")
		for _, conn := range []*sim.Conn{idle, busy} {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if err := readErr(conn); !strings.Contains(err.Error(), "timeout") {
				t.Errorf("after a power loss: %v", err)
			}
			_ = conn.SetReadDeadline(time.Time{})
		}
		ctx, cancel := context.WithTimeout(c.ctx, time.Second)
		defer cancel()
		if _, err := c.p.Dial(ctx, "tcp", "r0"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dial: %v", err)
		}
		at := c.w.Now()
		c.world(func(w *sim.World) error { w.At(at+time.Second, func() { _ = w.Faults().Restart("r0") }); return nil })
		if conn, err := c.p.Dial(c.ctx, "tcp", "r0"); err != nil || c.w.Now() < at+time.Second {
			t.Errorf("a dial that waited: %v, after %v", err, c.w.Now()-at)
		} else {
			_ = conn.Close()
		}
		if err := readErr(busy); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("sent before the restart: %v", err)
		}
		mustWrite(idle, "PING\r\n")
		if err := readErr(idle); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("sent to a restarted machine: %v", err)
		}
	})
}

// TestDialAcrossAPartitionToADarkNode shows that the dial waits for both.
func TestDialAcrossAPartitionToADarkNode(t *testing.T) {
	withClient(t, sim.Config{}, func(c *client) {
		c.world(crash("r0", faults.CrashPower))
		c.world(func(w *sim.World) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"c0"}, For: 2 * time.Second})
		})
		at := c.w.Now()
		c.world(func(w *sim.World) error { w.At(at+time.Second, func() { _ = w.Faults().Restart("r0") }); return nil })
		if _, err := c.p.Dial(c.ctx, "tcp", "r0"); err != nil || c.w.Now() < at+2*time.Second {
			t.Errorf("dialled after %v: %v", c.w.Now()-at, err)
		}
	})
}

// TestPrimaryThatRestartsEmpty shows that it empties its replicas.
func TestPrimaryThatRestartsEmpty(t *testing.T) {
	withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.want("SET k v", "OK")
		time.Sleep(10 * time.Millisecond)
		c.world(crash("r0", faults.CrashPower))
		time.Sleep(time.Second)
		c.at("r0a").want("GET k", "v")
		c.world(restart("r0"))
		time.Sleep(10 * time.Millisecond)
		c.at("r0a").want("GET k", "nil")
		c.at("r0").want("SET l w", "OK")
		time.Sleep(10 * time.Millisecond)
		c.at("r0a").want("GET l", "w")
	})
}

// TestReplicaThatRestarts shows that it catches up with all effects that it has
// missed.
func TestReplicaThatRestarts(t *testing.T) {
	for _, persistence := range simredis.Persistences() {
		withClient(t, with(simredis.Servers{Replicas: 1, Persistence: persistence}), func(c *client) {
			c.want("SET k v", "OK")
			c.want("SET l v", "OK")
			time.Sleep(10 * time.Millisecond)
			c.world(crash("r0a", faults.CrashProcess))
			c.want("DEL k", "1")
			c.want("SET m v", "OK")
			c.world(restart("r0a"))
			time.Sleep(10 * time.Millisecond)
			if got := c.keys("r0", "r0a"); cmp.Diff(got[0], got[1]) != "" || len(got[0]) != 2 {
				t.Errorf("%s: r0 and r0a have %q", persistence, got)
			}
		})
	}
}

// TestFlushallIsSavedAtOnce shows that with snapshots FLUSHALL is saved at
// once, as in Redis, and FLUSHDB is not.
func TestFlushallIsSavedAtOnce(t *testing.T) {
	for command, want := range map[string]string{"FLUSHALL": "0", "FLUSHDB": "1"} {
		withClient(t, with(simredis.Servers{Persistence: simredis.PersistRDB, Snapshot: time.Second}), func(c *client) {
			c.want("SET k v", "OK")
			time.Sleep(time.Second)
			c.want(command, "OK")
			c.world(crash("r0", faults.CrashProcess))
			c.world(restart("r0"))
			c.at("r0").want("EXISTS k", want)
		})
	}
}

// TestSnapshotsFollowTheNodesClock shows that a slow clock delays snapshots.
func TestSnapshotsFollowTheNodesClock(t *testing.T) {
	for ppm, want := range map[int64]string{0: "1", -500_000: "0", 1_000_000: "1"} {
		withClient(t, with(simredis.Servers{Persistence: simredis.PersistRDB, Snapshot: 10 * time.Second}), func(c *client) {
			c.want("SET k v", "OK")
			c.world(func(w *sim.World) error { return w.Faults().DriftClock("r0", ppm, 0) })
			time.Sleep(10*time.Second + time.Millisecond)
			c.world(crash("r0", faults.CrashProcess))
			c.world(restart("r0"))
			c.at("r0").want("EXISTS k", want)
		})
	}
}

// TestRestartedNodeWrites shows that snapshots and fsyncs go on after a crash
// that precedes a planned one.
func TestRestartedNodeWrites(t *testing.T) {
	for _, persistence := range []simredis.Persistence{simredis.PersistRDB, simredis.PersistEverysec} {
		withClient(t, with(simredis.Servers{Persistence: persistence, Snapshot: time.Second}), func(c *client) {
			sleepUntil(c, 1500*time.Millisecond)
			c.want("SET k v", "OK")
			c.world(crash("r0", faults.CrashPower))
			time.Sleep(10 * time.Millisecond)
			c.world(restart("r0"))
			c.at("r0").want("SET l v", "OK")
			sleepUntil(c, 2500*time.Millisecond)
			c.world(crash("r0", faults.CrashPower))
			time.Sleep(10 * time.Millisecond)
			c.world(restart("r0"))
			r := c.at("r0")
			r.want("EXISTS k", "0")
			r.want("EXISTS l", "1")
		})
	}
}

func TestRestartOfARunningNode(t *testing.T) {
	cfg := sim.Config{Servers: []sim.Kind{simredis.Servers{Replicas: 1}, store.Server{}}}
	run(t, cfg, func(w *sim.World) error {
		for _, name := range []string{"r0", "r0a", "c0", "r9", "s0"} {
			if err := w.Faults().Restart(name); err == nil {
				t.Errorf("%s was restarted", name)
			}
		}
		return nil
	})
}
