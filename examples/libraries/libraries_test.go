package libraries

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/sim"
	"locksim/sim/trace"
)

// TestMain runs the tests once more, with the overlay, in a program that was built without
// it.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && !sim.Overlaid() {
		code = withOverlay()
	}
	os.Exit(code)
}

func withOverlay() int {
	flag, err := exec.Command("go", "tool", "locksim", "overlay").Output()
	if err != nil {
		panic(err)
	}
	args := []string{"test", "-vet=off", strings.TrimSpace(string(flag)), ".", "-args"}
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.testlogfile") {
			args = append(args, a)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

// needsOverlay skips a test that runs in the second program.
func needsOverlay(t *testing.T) {
	t.Helper()
	if !sim.Overlaid() {
		t.Skip("it runs with the overlay")
	}
}

// promise is what a lock with a lease on one node can keep. rueidislock and valkeylock send the request that takes a key
// back on the connection on which a reply was lost, and wait for that one: their own key keeps the client out meanwhile.
var promise = lock.Promise{
	Exclusion:    []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultRestart, lock.FaultReset},
	SelfExcludes: true,
}

// Code that knows nothing of the world is deterministic in it, and keeps the promise: its
// random numbers and its dials are those of its process. LIBRARIES_SOAK=1 makes 2,000 runs of
// each.
func TestLibraries(t *testing.T) {
	needsOverlay(t)
	runs := 100
	if os.Getenv("LIBRARIES_SOAK") == "1" {
		runs = 2000
	}
	for _, l := range []scenarios.Lock{rueidisLock(true), valkeyLock(), asynqUnique(), overRedigo()} {
		t.Run(l.Name, func(t *testing.T) {
			l.Promise = promise
			scenarios.Check(t, l, scenarios.Options{Runs: runs, Seed: 1, Dir: t.TempDir()})
		})
	}
}

// One seed gives one run, at any GOMAXPROCS: of 10 scenarios 200 seeds with
// LIBRARIES_SOAK=1, and else two.
func TestOneSeedOneRun(t *testing.T) {
	needsOverlay(t)
	seeds := uint64(2)
	if os.Getenv("LIBRARIES_SOAK") == "1" {
		seeds = 200
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	locks := []scenarios.Lock{rueidisLock(true), valkeyLock(), asynqUnique(), overRedigo()}
	for i, name := range []string{"calm", "gc-pause", "partition-holder", "holder-crash", "lost-reply", "wall-clock-jump", "clock-drift",
		"hold-beyond-ttl", "thundering-herd", "redis-clock-ahead"} {
		l := locks[i%len(locks)]
		t.Run(name+" "+l.Name, func(t *testing.T) {
			sc, err := scenarios.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range seeds {
				var first *trace.Trace
				for _, procs := range []int{1, 2, 4} {
					runtime.GOMAXPROCS(procs)
					o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Repeat: scenarios.Twice})
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = o.Modes[0].Trace
					}
					if d := trace.Diff(first, o.Modes[0].Trace); d != nil {
						t.Fatalf("seed %d: another run with GOMAXPROCS=%d: %v", seed, procs, d)
					}
				}
			}
		})
	}
}

// setBack sets the wall clock of c0 back by an hour: the instant at which its key is to
// expire has passed.
const setBack = `name: set-back
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 10s}
workload: {rounds: 1, hold: 30s, stagger: 1s}
faults:
  - at: 100us
    clock_jump: {clock: c0, by: -1h}
`

func play(t *testing.T, l scenarios.Lock) scenarios.ModeRun {
	t.Helper()
	sc, err := file.Parse("set-back.yaml", []byte(setBack))
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	return o.Modes[0]
}

// rueidislock sends the end of its TTL by its own wall clock, so c1 is granted the lock
// while c0 has it. A relative TTL helps only until the first renewal.
func TestWallClock(t *testing.T) {
	needsOverlay(t)
	for _, relative := range []bool{false, true} {
		if m := play(t, rueidisLock(relative)); !m.FaultsFelt[0] || m.Verdict.Label != checker.Corrupted || m.Verdict.Facts.BeliefOverlaps == 0 {
			t.Errorf("relative TTL %v: felt %v, %s, %d beliefs overlap", relative, m.FaultsFelt[0], m.Verdict.Label, m.Verdict.Facts.BeliefOverlaps)
		}
	}
}

// Without the overlay it has one clock for all, and the run says that the fault was not
// felt.
func TestNotFeltWithoutTheOverlay(t *testing.T) {
	if sim.Overlaid() {
		t.Skip("it runs without the overlay")
	}
	l := rueidisLock(false)
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		return opened(e, func() (rueidislock.Locker, error) {
			return rueidislock.NewLocker(rueidislock.LockerOption{
				ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true, AlwaysRESP2: true,
					DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
						return e.Dial(ctx, "tcp", addr)
					}},
				KeyMajority: 1, KeyValidity: ttl, TryNextAfter: time.Second,
			})
		}), nil
	}
	if m := play(t, l); m.FaultsFelt[0] || m.Verdict.Label != checker.Safe {
		t.Errorf("felt %v, %s", m.FaultsFelt[0], m.Verdict.Label)
	}
}
