package rediscluster_test

import (
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
// often. The table is that of docs/explanation/limits.md.
func TestLiveTakeovers(t *testing.T) {
	soak.RealTime(t)
	const clusters, each, seeds = 6, 2, 100
	for _, x := range []isolation{
		{"cut", time.Second}, {"cut", 5 * time.Second}, {"cut", 15 * time.Second}, {"pause", time.Second},
	} {
		var mu sync.Mutex
		var live, simulated []takeover
		t.Run(fmt.Sprint(x.name, " ", x.timeout), func(t *testing.T) {
			for i := range clusters {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					g, l := newLiveLAN(t, x.timeout)
					for range each {
						k := x.live(t, g, l)
						mu.Lock()
						live = append(live, k)
						mu.Unlock()
					}
				})
			}
		})
		if len(live) == 0 {
			t.Skip("there are no real nodes, for the reasons above")
		}
		for seed := range uint64(seeds) {
			simulated = append(simulated, x.inTheWorld(t, seed))
		}
		name := fmt.Sprintf("%s, %v, ", x.name, x.timeout)
		t.Logf("\n%s\n%s", row(name+"real", live), row(name+"world", simulated))
		x.check(t, "world", simulated, 0)
		x.check(t, "real", live, 300*time.Millisecond) // the machine is loaded
		least, most := wilson(overlaps(simulated), seeds, 3.3)
		if from, to := wilson(overlaps(live), len(live), 3.3); x.name == "cut" && (from > most || to < least) {
			t.Errorf("%s: both take writes in %.0f to %.0f %% of the real cuts, and in %.0f to %.0f %% of those of the world",
				name, 100*from, 100*to, 100*least, 100*most)
		}
	}
}

// check compares takeovers with what is asked of them, where an answer may be late by a while.
func (x isolation) check(t *testing.T, where string, all []takeover, late time.Duration) {
	t.Helper()
	for i, k := range all {
		if wait := k.began - k.failed; wait < 500*time.Millisecond-late || wait > 1200*time.Millisecond+late {
			t.Errorf("%s %v, %s %d: the replica begins %v after the primary has failed", x.name, x.timeout, where, i, wait)
		}
		if x.name == "cut" && x.timeout == time.Second && k.late > 0 {
			t.Errorf("%s %v, %s %d: the old primary takes %d writes after the replica has begun", x.name, x.timeout, where, i,
				k.late)
		}
	}
	if x.name == "pause" && overlaps(all) == 0 {
		t.Errorf("%s %v, %s: the old primary never takes a write that has waited", x.name, x.timeout, where)
	}
}

// live is one takeover on real nodes, from which they have recovered before it returns.
func (x isolation) live(t *testing.T, g *liveCluster, l *lan) takeover {
	t.Helper()
	time.Sleep(x.timeout/2 + time.Duration(3000+rand.IntN(3000))*time.Millisecond)
	primary, replica := g.addrs["rc1"], g.addrs["rc4"]
	const lead = 100 * time.Millisecond
	struck := time.Now().Add(lead)
	var seen [2]watched
	var wg sync.WaitGroup
	for i, addr := range []string{primary, replica} {
		wg.Go(func() {
			c := g.client(addr)
			defer c.Close() //nolint:errcheck // it has answered
			seen[i] = watch(c, func() time.Duration { return time.Since(struck) }, x.watched(), primary)
		})
	}
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	time.Sleep(time.Until(struck))
	if process := g.cmds["rc1"].Process; x.name == "pause" {
		must(process.Signal(syscall.SIGSTOP))
		time.Sleep(time.Until(struck.Add(x.lasts())))
		must(process.Signal(syscall.SIGCONT))
		wg.Wait()
	} else {
		must(l.cut(primary))
		wg.Wait()
		must(l.heal(primary))
	}
	k, err := takeoverOf(seen[0], seen[1])
	must(err)
	g.recover(t, replica)
	return k
}
