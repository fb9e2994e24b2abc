package rediscluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
)

// index is where a line is among the lines, -1 for nowhere.
func index(lines []string, want string) int {
	for i, l := range lines {
		if strings.Contains(l, want) {
			return i
		}
	}
	return -1
}

// writes are a client's writes to "lock", one each 5 ms: when the last one at the old primary succeeded and the first
// one at the new one, and how many of those that succeeded the new one does not have.
type writes struct {
	last, first time.Duration
	lost        int
}

// handedOver is the writes of a client of rc1, and of one of rc4, while something makes rc4 the primary.
func handedOver(t *testing.T, seed uint64, strike func(w *sim.World) error) (got writes, lines []string) {
	t.Helper()
	res := testworld.Run(t, world(seed, quick), func(w *sim.World) error {
		const limit = 3 * time.Second
		taken := map[string]bool{}
		for i, name := range []string{"rc1", "rc4"} {
			p := w.Client(i)
			p.Go(func() {
				c := redisclient.New(p, name)
				for n := 0; w.Now() < limit; n++ {
					key := fmt.Sprintf("{lock}%d", n)
					if err := c.Set(context.Background(), key, "1", 0).Err(); err == nil {
						if i == 0 {
							got.last = w.Now()
							taken[key] = true
						} else if got.first == 0 {
							got.first = w.Now()
						}
					}
					time.Sleep(5 * time.Millisecond)
				}
				if i == 1 {
					time.Sleep(time.Second)
					for key := range taken {
						if c.Exists(context.Background(), key).Val() == 0 {
							got.lost++
						}
					}
				}
			})
		}
		w.At(2*time.Second, func() { testworld.Must(t, strike(w)) })
		return w.RunUntil(w.Idle)
	})
	return got, events(res, "cluster", "cluster-order", "replica-of")
}

// An operator's failover is over within half a second. One that the primary agrees to loses nothing, and does not let
// two primaries take writes.
func TestFailoverByOperator(t *testing.T) {
	for _, mode := range faults.FailoverModes() {
		t.Run(string(mode), func(t *testing.T) {
			lost := 0
			for seed := range uint64(6) {
				got, lines := handedOver(t, seed, func(w *sim.World) error {
					return faults.ClusterFailover{On: "rc4", Mode: mode}.Apply(w.Faults())
				})
				if got.first < 2*time.Second || got.first > 2500*time.Millisecond {
					t.Errorf("seed %d: the first write is at %v:\n%s", seed, got.first, strings.Join(lines, "\n"))
				}
				lost += got.lost
				if mode == faults.FailoverAgreed && (got.lost > 0 || got.last > got.first) {
					t.Errorf("seed %d: %d writes are lost, the last one at %v, the first at %v:\n%s", seed, got.lost, got.last,
						got.first, strings.Join(lines, "\n"))
				}
			}
			if mode != faults.FailoverAgreed && lost == 0 {
				t.Error("the old primary never took a write that the new one does not have")
			}
		})
	}
}

// A replica whose order makes no sense says so, and does nothing.
func TestFailoverRefused(t *testing.T) {
	_, lines := handedOver(t, 1, func(w *sim.World) error {
		return faults.ClusterFailover{On: "rc1"}.Apply(w.Faults())
	})
	if index(lines, "REPLACE ITS PRIMARY: ERR You should send CLUSTER FAILOVER to a replica") < 0 || len(lines) != 1 {
		t.Errorf("it did:\n%s", strings.Join(lines, "\n"))
	}
}

// A replica that asks for votes by force needs those of a majority, and one that takes over needs none.
func TestForceNeedsVotes(t *testing.T) {
	for mode, replaces := range map[faults.FailoverMode]bool{faults.FailoverForce: false, faults.FailoverTakeover: true} {
		_, lines := handedOver(t, 1, func(w *sim.World) error {
			for _, name := range []string{"rc1", "rc2"} {
				testworld.Must(t, w.Faults().Crash(name, faults.CrashPower))
			}
			return faults.ClusterFailover{On: "rc4", Mode: mode}.Apply(w.Faults())
		})
		if got := index(lines, "rc4: primary, with") >= 0; got != replaces {
			t.Errorf("%s makes rc4 the primary: %v\n%s", mode, got, strings.Join(lines, "\n"))
		}
	}
}

// A slot moves under a held lock: the key goes with it, with the time that it has left, and a client as it comes finds
// it at each step.
func TestMoveOfASlot(t *testing.T) {
	for _, until := range faults.MoveSteps() {
		t.Run(string(until), func(t *testing.T) {
			testworld.Run(t, world(1, quick), func(w *sim.World) error {
				p := w.Client(0)
				p.Go(func() {
					ctx, c := context.Background(), clusterClient(p)
					defer c.Close() //nolint:errcheck // the run is over
					if ok, err := c.SetNX(ctx, "lock", "c0", time.Minute).Result(); !ok || err != nil {
						t.Errorf("the lock is not free: %v, %v", ok, err)
					}
					time.Sleep(3 * time.Second)
					if left := c.PTTL(ctx, "lock").Val(); left < 56*time.Second || left > 57*time.Second {
						t.Errorf("after the move the lock has %v left", left)
					}
					if n, err := release.Run(ctx, c, []string{"lock"}, "c0").Int(); n != 1 || err != nil {
						t.Errorf("it is released: %d, %v", n, err)
					}
					if ok, err := c.SetNX(ctx, "lock", "c1", time.Minute).Result(); !ok || err != nil {
						t.Errorf("the lock is not free again: %v, %v", ok, err)
					}
				})
				w.At(2*time.Second, func() {
					testworld.Must(t, faults.MoveSlot{To: "rc2", Until: until}.Apply(w.Faults()))
				})
				w.At(2900*time.Millisecond, func() {
					want := map[faults.MoveStep]string{faults.MoveEnds: "rc2", faults.MoveKeys: "rc1", faults.MoveStarts: "rc1"}
					for i := range 6 {
						s, _ := rediscluster.On(w, fmt.Sprint("rc", i))
						if got := s.OwnerOf(rediscluster.Slot("lock")).Name(); got != want[until] {
							t.Errorf("rc%d takes %s for the owner", i, got)
						}
					}
				})
				return w.RunUntil(w.Idle)
			})
		})
	}
}

// Without a key it is not known which slot moves.
func TestMoveWithoutAKey(t *testing.T) {
	keyless := quick
	keyless.Key = ""
	testworld.Run(t, world(1, keyless), func(w *sim.World) error {
		if err := (faults.MoveSlot{To: "rc2"}).Apply(w.Faults()); err == nil || !strings.Contains(err.Error(), "give ") {
			t.Errorf("it ended with %v", err)
		}
		return nil
	})
}
