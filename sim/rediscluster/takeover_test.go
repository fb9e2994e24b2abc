package rediscluster_test

import (
	"context"
	"fmt"
	"math"
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
)

// watched is what a client of one node sees, from the instant on at which a primary is cut off or paused.
type watched struct {
	writes []time.Duration // when the node took one
	failed time.Duration   // when the node said that the primary has failed, 0 for never
}

// watch asks a node for a write every 4 ms, and for its view of the primary at an address, which is "" for none. It is
// the same for nodes of the world and for real ones: now is the time since the fault.
func watch(c *goredis.Client, now func() time.Duration, until time.Duration, primary string) (w watched) {
	ctx := context.Background()
	for n := 0; now() < until; n++ {
		if c.Set(ctx, fmt.Sprintf("{lock}%d", n%20), "1", 0).Err() == nil {
			w.writes = append(w.writes, now())
		}
		if primary != "" && w.failed == 0 && now() > 0 && flagged(c.ClusterNodes(ctx).Val(), primary) {
			w.failed = now()
		}
		time.Sleep(4 * time.Millisecond)
	}
	return w
}

// flagged reports whether an answer to CLUSTER NODES says that a node has failed.
func flagged(nodes, addr string) bool {
	for line := range strings.Lines(nodes) {
		f := strings.Fields(line)
		if at, _, _ := strings.Cut(f[1], "@"); at == addr {
			return slices.Contains(strings.Split(f[2], ","), "fail")
		}
	}
	return false
}

// takeover is when what happened after a primary was cut off or paused, as its client and one of its replica see it.
type takeover struct {
	failed  time.Duration // the replica says that it has failed
	began   time.Duration // the replica takes a write
	stopped time.Duration // the old primary takes its last one
	late    int           // writes that it took after the replica had begun
}

func takeoverOf(old, next watched) (k takeover, err error) {
	after := func(at time.Duration) bool { return at > 0 }
	i := slices.IndexFunc(next.writes, after)
	if i < 0 || next.failed == 0 || len(old.writes) == 0 {
		return k, fmt.Errorf("no takeover: failed at %v, %d writes at the replica, %d at the old primary", next.failed,
			len(next.writes), len(old.writes))
	}
	k = takeover{failed: next.failed, began: next.writes[i], stopped: old.writes[len(old.writes)-1]}
	for _, at := range old.writes {
		if at > k.began {
			k.late++
		}
	}
	return k, nil
}

// isolation is a fault that takes a primary away for a time, and with which node timeout.
type isolation struct {
	name    string // cut or pause
	timeout time.Duration
}

// lasts is for how long the primary is away, and watched how long it is looked at.
func (x isolation) lasts() time.Duration {
	if x.name == "pause" {
		return 4 * x.timeout
	}
	return x.watched()
}

func (x isolation) watched() time.Duration {
	if x.name == "pause" {
		return x.lasts() + 2*time.Second
	}
	return x.timeout*3/2 + 4*time.Second
}

// inTheWorld is the takeover of a seed.
func (x isolation) inTheWorld(t *testing.T, seed uint64) takeover {
	t.Helper()
	struck := 3*time.Second + time.Duration(seed)*137*time.Millisecond
	var seen [2]watched
	testworld.Run(t, world(seed, rediscluster.Servers{NodeTimeout: x.timeout}), func(w *sim.World) error {
		for i, name := range []string{"rc1", "rc4"} {
			p, primary := w.Client(i), []string{"", w.Client(i).Address("rc1")}[i]
			p.Go(func() {
				time.Sleep(struck - 50*time.Millisecond)
				opt := redisclient.Quiet()
				opt.Addr, opt.ReadTimeout = p.Address(name), -1
				now := func() time.Duration { return w.Now() - struck }
				seen[i] = watch(redisclient.With(p, opt), now, x.watched(), primary)
			})
		}
		w.At(struck, func() {
			if x.name == "pause" {
				testworld.Must(t, w.Faults().Stall("rc1", x.lasts()))
			} else {
				testworld.Must(t, alone("rc1", x.lasts(), faults.BytesDrop)(w))
			}
		})
		return w.RunUntil(w.Idle)
	})
	k, err := takeoverOf(seen[0], seen[1])
	if err != nil {
		t.Fatalf("%s, node timeout %v, seed %d: %v", x.name, x.timeout, seed, err)
	}
	return k
}

// row is a line of the table of takeovers.
func row(where string, all []takeover) string {
	var wait, stopped, began []time.Duration
	longest := time.Duration(0)
	for _, k := range all {
		wait, stopped, began = append(wait, k.began-k.failed), append(stopped, k.stopped), append(began, k.began)
		longest = max(longest, k.stopped-k.began)
	}
	both := overlaps(all)
	least, most := wilson(both, len(all), 1.96)
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %d, %d ms | %.0f to %.0f %% |", where, len(all), spread(wait),
		spread(stopped), spread(began), both, longest.Milliseconds(), 100*least, 100*most)
}

// overlaps is in how many takeovers both took writes at once.
func overlaps(all []takeover) (n int) {
	for _, k := range all {
		if k.late > 0 {
			n++
		}
	}
	return n
}

// wilson is the interval of Wilson for a share, of z standard deviations.
func wilson(n, of int, z float64) (least, most float64) {
	p, m := float64(n)/float64(of), float64(of)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return (mid - half) / (1 + z*z/m), (mid + half) / (1 + z*z/m)
}
