package rediscluster_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksim/internal/soak"
)

// A primary is cut off with its client, or paused: on six real nodes, each on a machine of its own, and in the world.
// In both, the replica begins 0.5 to 1.2 s after the primary counts as failed, and both take writes at once about as
// often. The table is that of docs/explanation/limits.md. Several clusters are tried at once: how often two nodes ping
// each other is decided when their processes start.
func TestLiveTakeovers(t *testing.T) {
	soak.RealTime(t)
	const clusters, each, seeds = 6, 2, 200
	var nodes [clusters]*liveCluster
	var lans [clusters]*lan
	for i := range clusters {
		nodes[i], lans[i] = newLiveLAN(t, time.Second)
	}
	for _, x := range []isolation{
		{"cut", time.Second}, {"cut", 5 * time.Second}, {"cut", 15 * time.Second}, {"pause", time.Second},
	} {
		t.Run(fmt.Sprintf("%s %v", x.name, x.timeout), func(t *testing.T) {
			all := make([]takeover, clusters*each)
			var wg sync.WaitGroup
			for i, g := range nodes {
				wg.Go(func() {
					for n := range each {
						var err error
						if all[i*each+n], err = x.live(g, lans[i]); err != nil {
							t.Errorf("cluster %d: %v", i, err)
						}
					}
				})
			}
			if wg.Wait(); t.Failed() {
				return
			}
			var simulated []takeover
			for seed := range uint64(seeds) {
				simulated = append(simulated, x.inTheWorld(t, seed))
			}
			t.Logf("\n%s\n%s", row("real", all), row("world", simulated))
			x.check(t, "world", simulated, 0)
			x.check(t, "real", all, 300*time.Millisecond) // the machine is loaded
			least, most := wilson(overlaps(simulated), seeds, 3.3)
			if from, to := wilson(overlaps(all), len(all), 3.3); from > most || to < least {
				t.Errorf("both take writes in %.0f to %.0f %% of the real runs, and in %.0f to %.0f %% of those of the world",
					100*from, 100*to, 100*least, 100*most)
			}
		})
	}
}

// check compares takeovers with what is asked of them, where an answer may be late by a while.
func (x isolation) check(t *testing.T, where string, all []takeover, late time.Duration) {
	t.Helper()
	for i, k := range all {
		if wait := k.began - k.failed; wait < 500*time.Millisecond-late || wait > 1200*time.Millisecond+late {
			t.Errorf("%s %d: the replica begins %v after the primary has failed", where, i, wait)
		}
		if x.name == "cut" && x.timeout == time.Second && k.late > 0 {
			t.Errorf("%s %d: the old primary takes %d writes after the replica has begun", where, i, k.late)
		}
	}
	if x.name == "pause" && overlaps(all) == 0 {
		t.Errorf("%s: the old primary never takes a write that has waited", where)
	}
}

// live is one takeover on real nodes, from which they have recovered before it returns.
func (x isolation) live(g *liveCluster, l *lan) (k takeover, err error) {
	for _, addr := range g.addrs {
		c := g.client(addr)
		err = errors.Join(err, c.ConfigSet(context.Background(), "cluster-node-timeout",
			fmt.Sprint(x.timeout.Milliseconds())).Err())
		_ = c.Close()
	}
	time.Sleep(x.timeout/2 + time.Duration(3000+rand.IntN(3000))*time.Millisecond)
	primary, replica := g.addrs["rc1"], g.addrs["rc4"]
	struck := time.Now().Add(100 * time.Millisecond)
	var seen [2]watched
	var wg sync.WaitGroup
	for i, addr := range []string{primary, replica} {
		wg.Go(func() {
			c := g.client(addr)
			defer c.Close() //nolint:errcheck // it has answered
			seen[i] = watch(c, func() time.Duration { return time.Since(struck) }, x.watched(), []string{"", primary}[i])
		})
	}
	begin, end := func() error { return l.cut(primary) }, func() error { return l.heal(primary) }
	if process := g.cmds["rc1"].Process; x.name == "pause" {
		begin = func() error { return process.Signal(syscall.SIGSTOP) }
		end = func() error { return process.Signal(syscall.SIGCONT) }
	}
	time.Sleep(time.Until(struck))
	err = errors.Join(err, begin())
	time.Sleep(time.Until(struck.Add(x.lasts())))
	err = errors.Join(err, end())
	wg.Wait()
	k, none := takeoverOf(seen[0], seen[1])
	return k, errors.Join(err, none, g.recover(replica))
}
