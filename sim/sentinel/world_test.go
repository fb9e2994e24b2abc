package sentinel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/sentinel"
	"locksim/sim/store"
)

// world is a primary, two replicas and Sentinels.
func world(seed uint64, s sentinel.Servers, r redis.Servers) sim.Config {
	r.Replicas = max(r.Replicas, 2)
	return sim.Config{Seed: seed, Clients: 2, Servers: []sim.Kind{r, s, store.Server{}},
		Latency: sim.Latency{Min: time.Millisecond, Max: 5 * time.Millisecond}}
}

// quick are Sentinels that take a server for down after a second.
var quick = sentinel.Servers{DownAfter: time.Second, FailoverTimeout: time.Minute}

// failoverClient is a client as a user makes it, with a dialer.
func failoverClient(p *sim.Process) *goredis.Client {
	return goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: sentinel.MasterName, SentinelAddrs: []string{p.Address("sen0"), p.Address("sen1"), p.Address("sen2")},
		Dialer: p.Dial,
	})
}

// events are what the Sentinels published, as lines.
func events(res *sim.Result, kinds ...string) []string {
	var out []string
	for _, e := range res.Trace.Events {
		for _, k := range kinds {
			if e.Kind() == k {
				out = append(out, fmt.Sprintf("%.3fs %s: %s", e.At.Seconds(), e.Actor, e.Text()))
			}
		}
	}
	return out
}

// A lock is held through a failover: the client finds the new primary by itself, and the key is there, since it was
// replicated.
func TestFailoverClientFollowsACrash(t *testing.T) {
	res := testworld.Run(t, world(1, quick, redis.Servers{}), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx := context.Background()
			c := failoverClient(p)
			defer c.Close() //nolint:errcheck // the run is over
			if ok, err := c.SetNX(ctx, "lock", "c0", time.Minute).Result(); !ok || err != nil {
				t.Errorf("the lock is not free: %v, %v", ok, err)
			}
			time.Sleep(time.Second)
			testworld.Mark(p, "crash")
			time.Sleep(5 * time.Second)
			got, err := c.Get(ctx, "lock").Result()
			if got != "c0" || err != nil {
				t.Errorf("after the failover the key is %q, %v", got, err)
			}
			if err := c.Set(ctx, "x", "1", 0).Err(); err != nil {
				t.Error(err)
			}
		})
		w.At(1200*time.Millisecond, func() { testworld.Must(t, w.Faults().Crash("r0", faults.CrashProcess)) })
		return w.RunUntil(w.Idle)
	})
	told := strings.Join(events(res, "sentinel", "replica-of", "crash"), "\n")
	t.Log("\n" + told)
	if strings.Count(told, "+switch-master") != 3 {
		t.Error("not every Sentinel has switched")
	}
}

// lockThroughTrouble is two clients that take a lock in turn while a fault strikes r0.
func lockThroughTrouble(strike func(w *sim.World) error) func(w *sim.World) error {
	return func(w *sim.World) error {
		for i := range 2 {
			p := w.Client(i)
			p.Go(func() {
				c := failoverClient(p)
				defer c.Close() //nolint:errcheck // the run is over
				for n := range 8 {
					ok, err := c.SetNX(context.Background(), "lock", p.Name(), 700*time.Millisecond).Result()
					testworld.Mark(p, "%d: %v %v", n, ok, err)
					time.Sleep(900 * time.Millisecond)
				}
			})
		}
		w.At(1200*time.Millisecond, func() { _ = strike(w) })
		return w.RunUntil(w.Idle)
	}
}

// strikes are the troubles of the tests, by name.
var strikes = map[string]func(w *sim.World) error{
	"crash": func(w *sim.World) error { return w.Faults().Crash("r0", faults.CrashProcess) },
	"power": func(w *sim.World) error { return w.Faults().Crash("r0", faults.CrashPower) },
	"cut": func(w *sim.World) error {
		return w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a", "r0b", "sen0", "sen1", "sen2"},
			For: 6 * time.Second, Bytes: faults.BytesDrop, Direction: faults.DirectionBoth})
	},
	"stall":   func(w *sim.World) error { return w.Faults().Stall("r0", 3*time.Second) },
	"sen0":    func(w *sim.World) error { return w.Faults().Crash("sen0", faults.CrashProcess) },
	"command": func(w *sim.World) error { return faults.SentinelFailover{On: "sen1"}.Apply(w.Faults()) },
	"tilt":    func(w *sim.World) error { return w.Faults().JumpClock("sen1", -time.Hour) },
}

// Every run of a seed is equal, on one processor and on two. With LOCKSIM_SOAK=1 it is a hundred runs of each trouble.
func TestRunsAreEqual(t *testing.T) {
	repeats := testworld.Seeds(20)
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		repeats = 100
	}
	for name, strike := range strikes {
		t.Run(name, func(t *testing.T) {
			var first string
			for i := range repeats {
				tr := testworld.RunOn(t, 1+i%2, world(3, quick, redis.Servers{}), lockThroughTrouble(strike))
				if got := tr.Hash(); first == "" {
					first = got
				} else if got != first {
					t.Fatalf("repeat %d differs", i)
				}
			}
		})
	}
}

// told are the events of a run in which r0 is struck, without the times.
func told(t *testing.T, cfg sim.Config, after time.Duration, strike func(w *sim.World) error) []string {
	t.Helper()
	res := testworld.Run(t, cfg, func(w *sim.World) error {
		w.Client(0).Go(func() { time.Sleep(after) })
		w.At(1200*time.Millisecond, func() { testworld.Must(t, strike(w)) })
		return w.RunUntil(w.Idle)
	})
	var out []string
	for _, e := range events(res, "sentinel", "replica-of") {
		_, what, _ := strings.Cut(e, "s ")
		out = append(out, what)
	}
	return out
}

// index is where a line is among the lines, -1 for nowhere.
func index(lines []string, want string) int {
	for i, l := range lines {
		if strings.Contains(l, want) {
			return i
		}
	}
	return -1
}

// An old primary that was cut off is a primary until a Sentinel makes it a replica, 8 s after it is heard again at the
// earliest.
func TestOldPrimaryIsMadeAReplica(t *testing.T) {
	lines := told(t, world(2, quick, redis.Servers{}), 40*time.Second, strikes["cut"])
	switched, convert, replica := index(lines, "+switch-master"), index(lines, "+convert-to-slave r0"),
		index(lines, "r0: replica of")
	if switched < 0 || convert < switched || replica < switched {
		t.Errorf("r0 was replaced at line %d, and made a replica at %d and %d:\n%s", switched, convert, replica,
			strings.Join(lines, "\n"))
	}
}

// A minority of the Sentinels, and a node that is well, start nothing.
func TestNoFailoverWithoutAMajority(t *testing.T) {
	for name, c := range map[string]struct {
		strike func(w *sim.World) error
		want   string
	}{
		"one Sentinel is cut off": {func(w *sim.World) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"sen0"}, And: []string{"r0"}, For: 10 * time.Second,
				Bytes: faults.BytesHold})
		}, "sen0: +sdown r0"},
		"no majority": {func(w *sim.World) error {
			_ = w.Faults().Crash("sen1", faults.CrashPower)
			_ = w.Faults().Crash("sen2", faults.CrashPower)
			return w.Faults().Crash("r0", faults.CrashProcess)
		}, "sen0: +sdown r0"},
		"a clock jumps back": {func(w *sim.World) error { return w.Faults().JumpClock("sen1", -time.Hour) }, "sen1: +tilt"},
		"a clock jumps":      {func(w *sim.World) error { return w.Faults().JumpClock("sen1", time.Hour) }, "sen1: +tilt"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := told(t, world(2, quick, redis.Servers{}), 20*time.Second, c.strike)
			if index(lines, c.want) < 0 || index(lines, "+switch-master") >= 0 || index(lines, "primary, with") >= 0 {
				t.Errorf("want %s, and no failover:\n%s", c.want, strings.Join(lines, "\n"))
			}
		})
	}
}

// Sentinels in TILT let a crash pass, until their clocks were right for 30 s.
func TestTiltDelaysAFailover(t *testing.T) {
	all := func(w *sim.World) error {
		for _, s := range []string{"sen0", "sen1", "sen2"} {
			testworld.Must(t, w.Faults().JumpClock(s, time.Minute))
		}
		return w.Faults().Crash("r0", faults.CrashProcess)
	}
	if lines := told(t, world(2, quick, redis.Servers{}), 25*time.Second, all); index(lines, "+sdown") >= 0 {
		t.Errorf("a Sentinel acts in TILT:\n%s", strings.Join(lines, "\n"))
	}
	// With 1 s in place of 5 s no replica is good by then: it has lost its primary for more than ten times as long.
	slower := sentinel.Servers{DownAfter: 5 * time.Second, FailoverTimeout: time.Minute}
	if lines := told(t, world(2, slower, redis.Servers{}), 50*time.Second, all); index(lines,
		"+switch-master") < index(lines, "-tilt") || index(lines, "-tilt") < 0 {
		t.Errorf("there is no failover after the TILT:\n%s", strings.Join(lines, "\n"))
	}
}

// An operator starts a failover, which takes no votes.
func TestFailoverByCommand(t *testing.T) {
	lines := told(t, world(2, quick, redis.Servers{}), 20*time.Second, strikes["command"])
	if index(lines, "sen1: +switch-master") < 0 || index(lines, "+sdown") >= 0 || index(lines, "r0: replica of") < 0 {
		t.Errorf("want a failover without trouble:\n%s", strings.Join(lines, "\n"))
	}
}

// A primary with min-replicas-to-write refuses writes when its replicas were silent for longer than
// min-replicas-max-lag.
func TestMinReplicas(t *testing.T) {
	cfg := world(1, sentinel.Servers{}, redis.Servers{MinReplicas: 1, MaxLag: 2 * time.Second})
	testworld.Run(t, cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c := redisclient.New(p, "r0")
			set := func(want string) {
				t.Helper()
				if err := c.Set(context.Background(), "k", "v", 0).Err(); fmt.Sprint(err) != want {
					t.Errorf("at %v: %v, want %s", w.Now(), err, want)
				}
			}
			time.Sleep(5 * time.Second)
			set("<nil>")
			time.Sleep(time.Second) // 1 s after the cut: the guard does not know yet
			set("<nil>")
			time.Sleep(4 * time.Second)
			set("NOREPLICAS Not enough good replicas to write.")
			time.Sleep(5 * time.Second)
			set("<nil>")
		})
		w.At(5500*time.Millisecond, func() {
			testworld.Must(t, w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a", "r0b"},
				For: 6 * time.Second, Bytes: faults.BytesHold}))
		})
		return w.RunUntil(w.Idle)
	})
}

// Of five Sentinels three are a majority: two may be down, and the third one that is keeps the others from a failover,
// also if two are the quorum that takes the primary for down.
func TestFiveSentinels(t *testing.T) {
	five := quick
	five.Count = 5
	for _, c := range []struct {
		down     []string
		quorum   int
		replaces bool
	}{
		{nil, 0, true}, {[]string{"sen0", "sen3"}, 0, true}, {[]string{"sen0", "sen3", "sen4"}, 0, false},
		{[]string{"sen0", "sen3", "sen4"}, 2, false}, {[]string{"sen0", "sen3"}, 2, true},
	} {
		five.Quorum = c.quorum
		strike := func(w *sim.World) error {
			for _, s := range c.down {
				testworld.Must(t, w.Faults().Crash(s, faults.CrashProcess))
			}
			return w.Faults().Crash("r0", faults.CrashProcess)
		}
		lines := told(t, world(2, five, redis.Servers{}), 20*time.Second, strike)
		if replaced := index(lines, "+switch-master") >= 0; replaced != c.replaces {
			t.Errorf("with %v down and quorum %d there is a failover: %v\n%s", c.down, c.quorum, replaced,
				strings.Join(lines, "\n"))
		}
		if down := index(lines, "+odown r0") >= 0; c.quorum == 2 && !down {
			t.Errorf("two of five do not take r0 for down with a quorum of two:\n%s", strings.Join(lines, "\n"))
		}
	}
}

// Of two replicas the one that has more of the primary's writes is made the primary, whichever that is.
func TestReplicaWithMostWritesIsChosen(t *testing.T) {
	for behind, want := range map[string]string{"r0a": "r0b", "r0b": "r0a"} {
		res := testworld.Run(t, world(2, quick, redis.Servers{}), func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				time.Sleep(time.Second)
				if err := redisclient.New(p, "r0").Set(context.Background(), "lock", "c0", time.Minute).Err(); err != nil {
					t.Error(err)
				}
				time.Sleep(19 * time.Second)
			})
			w.At(500*time.Millisecond, func() {
				testworld.Must(t, w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{behind},
					For: 4 * time.Second, Bytes: faults.BytesDrop}))
			})
			w.At(2*time.Second, func() { testworld.Must(t, w.Faults().Crash("r0", faults.CrashProcess)) })
			return w.RunUntil(w.Idle)
		})
		lines := events(res, "sentinel", "replica-of")
		if index(lines, want+": primary") < 0 || index(lines, behind+": primary") >= 0 {
			t.Errorf("%s is behind, want %s for the primary:\n%s", behind, want, strings.Join(lines, "\n"))
		}
	}
}

// A client that is closed at the end of a run, while it looks for a Sentinel, does not freeze the run: it holds a mutex
// for which its Close waits, until it is answered or gives up.
func TestClosedWhileItSearches(t *testing.T) {
	sentinels := []string{"sen0", "sen1", "sen2"}
	for name, trouble := range map[string]func(w *sim.World) error{
		"none": func(*sim.World) error { return nil },
		"cut": func(w *sim.World) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: sentinels, For: time.Hour,
				Bytes: faults.BytesHold, Direction: faults.DirectionBoth})
		},
		"cut back": func(w *sim.World) error {
			return w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: sentinels, For: time.Hour,
				Bytes: faults.BytesDrop, Direction: faults.DirectionBackward})
		},
	} {
		for _, length := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
			12 * time.Millisecond, time.Second, 4 * time.Second} {
			cfg := world(1, quick, redis.Servers{})
			cfg.Limits.Frozen = 2 * time.Second
			_, err := sim.Run(cfg, func(w *sim.World) error {
				testworld.Must(t, trouble(w))
				p := w.Client(0)
				c := failoverClient(p)
				p.OnEnd(func() { _ = c.Close() })
				p.Go(func() { _ = c.Get(p.Context(), "x").Err() })
				return w.RunFor(length)
			})
			if err != nil {
				t.Errorf("trouble %s, closed after %v: %.600v", name, length, err)
			}
		}
	}
}

// One that is closed in the middle of a run, while another goroutine looks for a Sentinel, freezes it: that says what
// to do.
func TestClosedInTheMiddle(t *testing.T) {
	cfg := world(1, quick, redis.Servers{})
	cfg.Limits.Frozen = time.Second
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		c := failoverClient(p)
		p.Go(func() { _ = c.Get(p.Context(), "x").Err() })
		p.Go(func() {
			time.Sleep(2 * time.Millisecond)
			_ = c.Close()
		})
		return w.RunUntil(w.Idle)
	})
	frozen, ok := errors.AsType[*sim.FrozenError](err)
	if !ok || !strings.Contains(frozen.Reason, "set MaxConcurrentDials to 1, and call Close when no command of the "+
		"client is under way") {
		t.Errorf("it ended with %.1000v", err)
	}
}
