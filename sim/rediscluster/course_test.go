package rediscluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
	"locksim/sim/trace"
)

// asked is what a client of one node is answered, each 20 ms, as "answer" with the time of the first in a row.
type asked struct {
	at     time.Duration
	answer string
}

// answersOf asks a node for a key again and again, from 1 s on, while something strikes at 3 s.
func answersOf(t *testing.T, cfg sim.Config, node, key string, until time.Duration, strike func(w *sim.World) error) (
	[]asked, *sim.Result) {
	t.Helper()
	var out []asked
	res := testworld.Run(t, cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c := redisclient.New(p, node)
			for time.Sleep(time.Second); w.Now() < until; time.Sleep(20 * time.Millisecond) {
				answer := "OK"
				if err := c.Set(context.Background(), key, "1", 0).Err(); err != nil {
					answer = err.Error()
				}
				if len(out) == 0 || out[len(out)-1].answer != answer {
					out = append(out, asked{w.Now(), answer})
				}
			}
		})
		w.At(3*time.Second, func() { testworld.Must(t, strike(w)) })
		return w.RunUntil(w.Idle)
	})
	return out, res
}

func answersText(all []asked) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%.3fs %s\n", a.at.Seconds(), a.answer)
	}
	return b.String()
}

// While one shard has no primary, the others refuse too: each slot must have an owner.
func TestOtherShardsAreDownMeanwhile(t *testing.T) {
	for seed := range uint64(testworld.Seeds(6)) {
		all, _ := answersOf(t, world(seed, quick), "rc0", "{3}", 10*time.Second, strikes["crash"])
		if len(all) != 3 || all[1].answer != "CLUSTERDOWN The cluster is down" || all[2].answer != "OK" {
			t.Fatalf("seed %d:\n%s", seed, answersText(all))
		}
		if d := all[2].at - all[1].at; d < 500*time.Millisecond || d > 1400*time.Millisecond {
			t.Errorf("seed %d: down for %v", seed, d)
		}
	}
}

// A primary without persistence that is back before it was missed takes its keys from its replica too, also those that
// WAIT has confirmed.
func TestEmptyPrimaryWipesItsReplica(t *testing.T) {
	res := testworld.Run(t, world(1, quick), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx, c := context.Background(), redisclient.New(p, "rc1")
			testworld.Must(t, c.Set(ctx, "lock", "c0", time.Minute).Err())
			if n := c.Wait(ctx, 1, time.Second).Val(); n != 1 {
				t.Errorf("%d replicas have the lock", n)
			}
			testworld.Must(t, w.Faults().Crash("rc1", faults.CrashProcess))
			time.Sleep(300 * time.Millisecond)
			testworld.Must(t, w.Faults().Restart("rc1"))
			time.Sleep(5 * time.Second)
			for i, name := range []string{"rc1", "rc4"} {
				own := redisclient.New(p, name)
				_ = own.Do(ctx, "READONLY").Err()
				s, _ := rediscluster.On(w, name)
				if got, err := own.Get(ctx, "lock").Result(); got != "" || s.Primary() != (i == 0) {
					t.Errorf("%s has %q, %v", name, got, err)
				}
			}
		})
		return w.RunUntil(w.Idle)
	})
	if lines := events(res, "replica-of"); len(lines) > 0 {
		t.Errorf("there was a failover:\n%s", strings.Join(lines, "\n"))
	}
}

// A restarted primary does not serve for two seconds, so that it can learn whether it was replaced.
func TestRestartedPrimaryWaits(t *testing.T) {
	all, _ := answersOf(t, world(1, rediscluster.Servers{}), "rc1", "lock", 8*time.Second, func(w *sim.World) error {
		w.At(3100*time.Millisecond, func() { _ = w.Faults().Restart("rc1") })
		return w.Faults().Crash("rc1", faults.CrashProcess)
	})
	last := all[len(all)-1]
	if down := all[len(all)-2]; last.answer != "OK" || down.answer != "CLUSTERDOWN The cluster is down" ||
		last.at < 5100*time.Millisecond || last.at > 5600*time.Millisecond {
		t.Errorf("it answered\n%s", answersText(all))
	}
}

// A primary that is back after it was replaced is a replica, and says so.
func TestOldPrimaryFollows(t *testing.T) {
	for _, name := range []string{"late restart", "stall", "cut", "held"} {
		for seed := range uint64(testworld.Seeds(4)) {
			all, res := answersOf(t, world(seed, quick), "rc1", "lock", 14*time.Second, strikes[name])
			s := all[len(all)-1]
			if !strings.HasPrefix(s.answer, "MOVED 8718 10.0.0.14:6379") {
				t.Errorf("%s, seed %d:\n%s\n%s", name, seed, answersText(all),
					strings.Join(events(res, "cluster", "replica-of"), "\n"))
			}
		}
	}
}

// A cut that is hardly longer than the node timeout often changes nothing, but a primary that has called the cluster
// down waits for one node timeout more.
func TestShortCut(t *testing.T) {
	two := rediscluster.Servers{NodeTimeout: 2 * time.Second}
	quiet, waited := 0, 0
	for seed := range uint64(testworld.Seeds(30)) {
		all, res := answersOf(t, world(seed, two), "rc1", "lock", 10*time.Second, alone("rc1", 2600*time.Millisecond,
			faults.BytesDrop))
		switch {
		case len(events(res, "replica-of")) > 0:
		case len(all) == 1:
			quiet++
		case len(all) == 3 && all[2].answer == "OK":
			waited++
			if d := all[2].at - all[1].at; d < 2*time.Second || d > 2800*time.Millisecond {
				t.Errorf("seed %d: it was down for %v:\n%s", seed, d, answersText(all))
			}
		default:
			t.Errorf("seed %d:\n%s", seed, answersText(all))
		}
	}
	t.Logf("nothing happens in %d runs, the primary calls the cluster down in %d", quiet, waited)
	if quiet == 0 || waited == 0 {
		t.Error("want both")
	}
}

// Of two replicas the one with more of the writes is elected; the other one waits for a second.
func TestReplicaWithMostIsElected(t *testing.T) {
	for behind, want := range map[string]string{"rc4": "rc7", "rc7": "rc4"} {
		cfg := world(1, rediscluster.Servers{Replicas: 2, NodeTimeout: time.Second})
		res := testworld.Run(t, cfg, func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				time.Sleep(time.Second)
				testworld.Must(t, redisclient.New(p, "rc1").Set(context.Background(), "lock", "c0", time.Minute).Err())
				time.Sleep(9 * time.Second)
			})
			w.At(500*time.Millisecond, func() {
				testworld.Must(t, w.Faults().Cut(faults.Partition{Between: []string{"rc1"}, And: []string{behind},
					For: 5 * time.Second, Bytes: faults.BytesDrop}))
			})
			w.At(1800*time.Millisecond, func() { testworld.Must(t, w.Faults().Crash("rc1", faults.CrashProcess)) })
			return w.RunUntil(w.Idle)
		})
		lines := events(res, "cluster", "replica-of")
		if index(lines, want+": primary") < 0 || index(lines, behind+": primary") >= 0 {
			t.Errorf("%s is behind, want %s for the primary:\n%s", behind, want, strings.Join(lines, "\n"))
		}
	}
}

// Without a majority of the primaries there is no failover, and the rest stops serving.
func TestNoFailoverWithoutAMajority(t *testing.T) {
	all, res := answersOf(t, world(1, quick), "rc0", "{3}", 20*time.Second, func(w *sim.World) error {
		_ = w.Faults().Crash("rc1", faults.CrashPower)
		return w.Faults().Crash("rc2", faults.CrashPower)
	})
	agreed := slices.ContainsFunc(res.Trace.Events, func(e trace.Event) bool {
		x, ok := e.What.(trace.Cluster)
		return ok && x.Event == "fail"
	})
	if len(events(res, "replica-of")) > 0 || agreed || len(all) != 2 ||
		all[1].answer != "CLUSTERDOWN The cluster is down" {
		t.Errorf("want no failover:\n%s\n%s", answersText(all), strings.Join(events(res, "cluster", "replica-of"), "\n"))
	}
}

// A replica that was without its primary for too long is not elected, unless it may be always.
func TestReplicaTooOld(t *testing.T) {
	for validity, elected := range map[int]bool{1: false, -1: true} {
		cfg := world(1, rediscluster.Servers{NodeTimeout: 500 * time.Millisecond, Validity: validity})
		res := testworld.Run(t, cfg, func(w *sim.World) error {
			w.Client(0).Go(func() { time.Sleep(60 * time.Second) })
			// The replica and the primary do not hear each other, and the others do.
			w.At(time.Second, func() {
				testworld.Must(t, w.Faults().Cut(faults.Partition{Between: []string{"rc1"}, And: []string{"rc4"},
					For: 50 * time.Second, Bytes: faults.BytesDrop}))
			})
			w.At(40*time.Second, func() { testworld.Must(t, w.Faults().Crash("rc1", faults.CrashPower)) })
			return w.RunUntil(w.Idle)
		})
		if got := len(events(res, "replica-of")) > 0; got != elected {
			t.Errorf("with validity factor %d it is elected: %v\n%s", validity, got, strings.Join(events(res, "cluster",
				"replica-of"), "\n"))
		}
	}
}

// Scripts are not replicated: the first EVALSHA at the new primary fails.
func TestNoScriptAfterAFailover(t *testing.T) {
	testworld.Run(t, world(1, quick), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx, c := context.Background(), redisclient.Cluster(p, &goredis.ClusterOptions{Addrs: []string{"rc0"}, PoolSize: 5})
			run := func() error { return release.EvalSha(ctx, c, []string{"lock"}, "c0").Err() }
			testworld.Must(t, release.Eval(ctx, c, []string{"lock"}, "c0").Err())
			testworld.Must(t, run())
			testworld.Must(t, faults.ClusterFailover{On: "rc4"}.Apply(w.Faults()))
			time.Sleep(time.Second)
			if err := run(); err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
				t.Errorf("at the new primary it ends with %v", err)
			}
			if n, err := release.Run(ctx, c, []string{"lock"}, "c0").Int(); n != 0 || err != nil {
				t.Errorf("with the script it ends with %d, %v", n, err)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// What is not modelled is refused with its name.
func TestUnmodelledIsRefused(t *testing.T) {
	testworld.Run(t, world(1, quick), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c := redisclient.New(p, "rc0")
			for _, args := range [][]any{{"CLUSTER", "MEET", "a", "1"}, {"CLUSTER", "RESET"}, {"CLUSTER", "REPLICATE", "x"},
				{"SSUBSCRIBE", "a"}, {"CLUSTER", "ADDSLOTS", "1"}, {"COMMAND", "DOCS"}} {
				err := c.Do(context.Background(), args...).Err()
				if err == nil || !strings.Contains(err.Error(), "is not modelled in the simulated Redis Cluster") ||
					!strings.Contains(err.Error(), fmt.Sprint(args[min(len(args)-1, 1)])) && args[0] != "SSUBSCRIBE" {
					t.Errorf("%v ends with %v", args, err)
				}
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// The bus sleeps while nothing can happen: the world has no events of its own then.
func TestBusSleeps(t *testing.T) {
	count := func(strike func(w *sim.World) error) int {
		ticks := 0
		testworld.Run(t, world(1, quick), func(w *sim.World) error {
			w.Client(0).Go(func() { time.Sleep(100 * time.Second) })
			w.At(3*time.Second, func() { testworld.Must(t, strike(w)) })
			return w.RunUntil(func() bool { ticks++; return w.Idle() })
		})
		return ticks
	}
	if n := count(strikes["none"]); n > 20 {
		t.Errorf("without a fault the world stops %d times", n)
	}
	crash := count(strikes["crash"])
	if still := count(func(w *sim.World) error { return w.Faults().Stall("rc1", 100*time.Second) }); crash > still/4 {
		t.Errorf("after a failover the world stops %d times, and %d times while a node is stalled", crash, still)
	}
}
