package rediscluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
	"locksim/sim/trace"
)

// course is when what happened after a fault, from the fault on.
type course struct {
	suspected, failed, promoted time.Duration // 0 for never
}

// courseOf is the course of a run in which a fault strikes at an instant.
func courseOf(res *sim.Result, struck time.Duration) (c course) {
	first := func(at *time.Duration, e trace.Event) {
		if *at == 0 && e.At > struck {
			*at = e.At - struck
		}
	}
	for _, e := range res.Trace.Events {
		switch x := e.What.(type) {
		case trace.Cluster:
			switch x.Event {
			case "fail?":
				first(&c.suspected, e)
			case "fail":
				first(&c.failed, e)
			}
		case trace.ReplicaOf:
			if x.Primary == "" {
				first(&c.promoted, e)
			}
		}
	}
	return c
}

// spread is the least and the greatest of some lengths, in milliseconds.
func spread(all []time.Duration) string {
	return fmt.Sprintf("%d..%d", slices.Min(all).Milliseconds(), slices.Max(all).Milliseconds())
}

// A primary that crashes is suspected after the node timeout, and half of that at most; a majority agrees soon after,
// and the replica takes over half a second to 1.2 s later. These are the times of six real nodes, in namespaces of
// their own.
func TestTimesOfACrash(t *testing.T) {
	seeds := uint64(testworld.Seeds(12))
	for timeout, real := range map[time.Duration][3][2]int{
		500 * time.Millisecond: {{575, 771}, {706, 1046}, {719, 922}},
		time.Second:            {{1086, 1295}, {1186, 1497}, {849, 1106}},
		2 * time.Second:        {{2127, 2603}, {2246, 3518}, {660, 1084}},
		5 * time.Second:        {{5429, 6156}, {6537, 7668}, {776, 1018}},
	} {
		var suspected, failed, promoted []time.Duration
		for seed := range seeds {
			struck := 3*time.Second + time.Duration(seed)*137*time.Millisecond
			res := testworld.Run(t, world(seed, rediscluster.Servers{NodeTimeout: timeout}), func(w *sim.World) error {
				w.Client(0).Go(func() { time.Sleep(struck + 4*timeout + 3*time.Second) })
				w.At(struck, func() { testworld.Must(t, w.Faults().Crash("rc1", faults.CrashProcess)) })
				return w.RunUntil(w.Idle)
			})
			c := courseOf(res, struck)
			if c.promoted == 0 {
				t.Fatalf("node timeout %v, seed %d: no failover:\n%s", timeout, seed, strings.Join(events(res, "cluster"), "\n"))
			}
			suspected, failed = append(suspected, c.suspected), append(failed, c.failed)
			promoted = append(promoted, c.promoted-c.failed)
		}
		t.Logf("node timeout %v: suspected after %s ms (real %v), failed after %s (%v), promoted %s later (%v)", timeout,
			spread(suspected), real[0], spread(failed), real[1], spread(promoted), real[2])
		if slices.Min(suspected) < timeout || slices.Max(suspected) > timeout*3/2+400*time.Millisecond ||
			timeout >= time.Second && slices.Max(suspected) < timeout*6/5 || // it was heard some time before the crash
			slices.Min(promoted) < 500*time.Millisecond || slices.Max(promoted) > 1200*time.Millisecond {
			t.Error("these are other times")
		}
	}
}

// A majority agrees soon after the second primary has missed it: a node times another one out just before it pings one
// by chance, since its ticks are late. On real nodes half of 84 cuts took no more than 0.21 s for that, and three
// quarters 0.71 s.
func TestMajorityAgreesSoon(t *testing.T) {
	var waits []time.Duration
	for seed := range uint64(testworld.Seeds(80)) {
		struck := 3*time.Second + time.Duration(seed)*37*time.Millisecond
		res := testworld.Run(t, world(seed, rediscluster.Servers{}), func(w *sim.World) error {
			w.Client(0).Go(func() { time.Sleep(struck + 26*time.Second) })
			w.At(struck, func() { testworld.Must(t, alone("rc1", 40*time.Second, faults.BytesDrop)(w)) })
			return w.RunUntil(w.Idle)
		})
		var missed, failed time.Duration
		for _, e := range res.Trace.Events {
			x, ok := e.What.(trace.Cluster)
			switch {
			case !ok || failed != 0:
			case x.Event == "fail":
				failed = e.At
			case x.Event == "fail?" && (e.Actor == "rc0" || e.Actor == "rc2"):
				missed = e.At
			}
		}
		waits = append(waits, failed-missed)
	}
	slices.Sort(waits)
	half := waits[len(waits)/2]
	t.Logf("%s ms, half of them in %v", spread(waits), half)
	if half > 600*time.Millisecond {
		t.Error("it takes longer than on real nodes")
	}
}

// A node draws others from a hash table of its own, where two nodes can share a bucket.
func TestNodesShareBuckets(t *testing.T) {
	shared, several := false, map[string]bool{}
	testworld.Run(t, world(1, quick), func(w *sim.World) error {
		for i := range 6 {
			s, err := rediscluster.On(w, fmt.Sprint("rc", i))
			testworld.Must(t, err)
			seen := map[int]bool{}
			for _, b := range s.Buckets() {
				shared = shared || len(b) > 1
				for _, i := range b {
					seen[i] = true
				}
			}
			several[fmt.Sprint(s.Buckets())] = true
			if len(seen) != 6 || len(s.Buckets()) > 6 {
				t.Errorf("rc%d has %v", i, s.Buckets())
			}
		}
		return nil
	})
	if !shared || len(several) < 4 {
		t.Errorf("want nodes in one bucket, differently at each node: %v", several)
	}
}

// window is what two clients see of a primary that is out of reach of the other nodes: when the last write at the old
// primary was accepted, the first one at the new one, and how many writes the new one does not have.
func window(t *testing.T, seed uint64, timeout time.Duration, strike func(w *sim.World) error, goesOn time.Duration) (
	got writes, late []time.Duration, lines []string) {
	t.Helper()
	limit := 3*time.Second + goesOn
	res := testworld.Run(t, world(seed, rediscluster.Servers{NodeTimeout: timeout}), func(w *sim.World) error {
		for i, name := range []string{"rc1", "rc4"} {
			p := w.Client(i)
			p.Go(func() {
				c := redisclient.New(p, name)
				for n := 0; w.Now() < limit; n++ {
					ctx, done := context.WithTimeout(context.Background(), time.Minute)
					err := c.Set(ctx, fmt.Sprintf("{lock}%d", n%20), "1", 0).Err()
					done()
					if err == nil && i == 0 {
						got.last = w.Now()
						late = append(late, w.Now())
					} else if err == nil && got.first == 0 {
						got.first = w.Now()
					}
					time.Sleep(4 * time.Millisecond)
				}
			})
		}
		w.At(3*time.Second, func() { testworld.Must(t, strike(w)) })
		return w.RunUntil(w.Idle)
	})
	return got, late, events(res, "cluster", "replica-of", "stall-end")
}

// A primary that is cut off from the other nodes stops before its replica begins, with a node timeout of a second: it
// hears no majority after one and a half of that at most, and the replica waits for half a second and more.
func TestIsolatedPrimaryStopsFirst(t *testing.T) {
	const timeout = time.Second
	var last, gap []time.Duration
	for seed := range uint64(testworld.Seeds(12)) {
		for _, bytes := range faults.BytesModes() {
			got, _, lines := window(t, seed, timeout, alone("rc1", 3*timeout, bytes), 4*timeout+2*time.Second)
			last, gap = append(last, got.last-3*time.Second), append(gap, got.first-got.last)
			if got.first <= got.last || got.first == 0 {
				t.Errorf("seed %d, %s: the last write at %v, the first at %v:\n%s", seed, bytes, got.last, got.first,
					strings.Join(lines, "\n"))
			}
		}
	}
	t.Logf("the last write %s ms after the cut, none for %s", spread(last), spread(gap))
}

// With the default node timeout of 15 s it need not: what is half a node timeout is longer than what the replica waits.
// In about a third of the runs two primaries take writes for seconds, as on real nodes: see TestLiveTakeovers.
func TestIsolatedPrimaryAtTheDefault(t *testing.T) {
	both, longest := 0, time.Duration(0)
	runs := testworld.Seeds(30)
	for seed := range uint64(runs) {
		res := testworld.Run(t, world(seed, rediscluster.Servers{}), func(w *sim.World) error {
			w.Client(0).Go(func() { time.Sleep(50 * time.Second) })
			w.At(3*time.Second+time.Duration(seed)*37*time.Millisecond, func() {
				testworld.Must(t, alone("rc1", 45*time.Second, faults.BytesDrop)(w))
			})
			return w.RunUntil(w.Idle)
		})
		var stopped, began time.Duration
		for _, e := range res.Trace.Events {
			switch x := e.What.(type) {
			case trace.Cluster:
				if x.Event == "down" && e.Actor == "rc1" && stopped == 0 {
					stopped = e.At
				}
			case trace.ReplicaOf:
				if x.Primary == "" && began == 0 {
					began = e.At
				}
			}
		}
		if stopped == 0 || began == 0 {
			t.Fatalf("seed %d: it stops at %v, and the replica begins at %v:\n%s", seed, stopped, began,
				strings.Join(events(res, "cluster"), "\n"))
		}
		if d := stopped - began; d > 0 {
			both, longest = both+1, max(longest, d)
		}
	}
	t.Logf("in %d of %d runs there are two primaries, for %v at most", both, runs, longest)
	if both == 0 || longest > 7500*time.Millisecond {
		t.Error("want some, for half a node timeout at most")
	}
}

// A primary that stood still takes a write that has waited in its socket, although there is another one by then: the
// two primaries of a Redis Cluster.
func TestPausedPrimaryTakesAWrite(t *testing.T) {
	const timeout = time.Second
	stale := 0
	for seed := range uint64(testworld.Seeds(8)) {
		got, late, lines := window(t, seed, timeout, func(w *sim.World) error {
			return w.Faults().Stall("rc1", 4*timeout)
		}, 8*time.Second)
		n := 0
		for _, at := range late {
			if at > got.first {
				n++
			}
		}
		if n > 0 {
			stale++
		}
		if got.first == 0 || n > 2 || got.last > 7*time.Second+200*time.Millisecond {
			t.Errorf("seed %d: the first write of the new primary is at %v, the old one then takes %d, the last at %v:\n%s",
				seed, got.first, n, got.last, strings.Join(lines, "\n"))
		}
	}
	t.Logf("in %d of %d runs the old primary takes a write", stale, testworld.Seeds(8))
	if stale == 0 {
		t.Error("the old primary never takes a write")
	}
}

// Where two primaries crash at once, two replicas may stand in one epoch. A primary votes for one of them, and the
// other one stands again in a later epoch.
func TestOneVoteInAnEpoch(t *testing.T) {
	both := 0
	for seed := range uint64(40) {
		cfg := world(seed, rediscluster.Servers{Shards: 5, NodeTimeout: time.Second})
		cfg.Latency = sim.Latency{Min: 40 * time.Millisecond, Max: 60 * time.Millisecond}
		res := testworld.Run(t, cfg, func(w *sim.World) error {
			w.Client(0).Go(func() { time.Sleep(13 * time.Second) })
			w.At(3*time.Second, func() {
				testworld.Must(t, w.Faults().Crash("rc0", faults.CrashPower))
				testworld.Must(t, w.Faults().Crash("rc1", faults.CrashPower))
			})
			return w.RunUntil(w.Idle)
		})
		voted, asked, promoted := map[string]string{}, map[string]bool{}, 0
		for _, e := range res.Trace.Events {
			if x, ok := e.What.(trace.ReplicaOf); ok && x.Primary == "" {
				promoted++
			}
			x, ok := e.What.(trace.Cluster)
			_, epoch, found := strings.Cut(x.About, " in epoch ")
			switch {
			case !ok || !found:
			case x.Event == "asks":
				if asked[epoch] {
					both++
				}
				asked[epoch] = true
			case x.Event == "votes":
				if other, twice := voted[e.Actor+epoch]; twice {
					t.Errorf("seed %d: %s votes for %s, and before for %s", seed, e.Actor, x.About, other)
				}
				voted[e.Actor+epoch] = x.About
			}
		}
		if promoted != 2 {
			t.Errorf("seed %d: %d replicas are promoted:\n%s", seed, promoted, strings.Join(events(res, "cluster"), "\n"))
		}
	}
	t.Logf("two stand in one epoch in %d of 40 runs", both)
	if both == 0 {
		t.Error("no two stand in one epoch")
	}
}
