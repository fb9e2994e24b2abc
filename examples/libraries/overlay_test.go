package libraries

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/checker"
	"locksim/internal/live"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/sim"
)

// TestMain runs the tests once more, with the overlay, in a program that was built without
// it, if one of them needs it.
func TestMain(m *testing.M) {
	if live.Child(brief()) {
		return
	}
	code := m.Run()
	if code == 0 && skipped {
		code = withOverlay()
	}
	os.Exit(code)
}

// skipped says that a test waits for the second program.
var skipped bool

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
		soak.Only(t, "with the overlay all is compiled anew, the standard library too")
		skipped = true
		t.Skip("it runs with the overlay")
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

func played(t *testing.T, l scenarios.Lock) scenarios.ModeRun {
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

// rueidisLock is rueidislock on one server, over a client with the given options.
func rueidisLock(relative bool, client func(e scenarios.Env) rueidis.ClientOption) scenarios.Lock {
	return scenarios.Lock{Name: "rueidislock", Traits: scenarios.Traits{Lease: scenarios.LeaseHeld,
		Detection: 6 * time.Second},
		New: func(e scenarios.Env) (lock.Locker, error) {
			return Opened(e, func() (rueidislock.Locker, error) {
				o := client(e)
				o.InitAddress, o.DisableCache, o.AlwaysRESP2 = []string{e.Address(scenarios.Primary)}, true, true
				return rueidislock.NewLocker(rueidislock.LockerOption{
					ClientOption: o, KeyMajority: 1, KeyValidity: 10 * time.Second, TryNextAfter: time.Second, FallbackSETPX: relative,
				})
			}), nil
		}}
}

func dialsAlone(scenarios.Env) rueidis.ClientOption { return rueidis.ClientOption{} }

// rueidislock sends the end of its TTL by its own wall clock, so c1 is granted the lock
// while c0 has it. A relative TTL helps only until the first renewal.
func TestWallClock(t *testing.T) {
	needsOverlay(t)
	for _, relative := range []bool{false, true} {
		if m := played(t, rueidisLock(relative, dialsAlone)); !m.FaultsFelt[0] || m.Verdict.Label != checker.Corrupted ||
			m.Verdict.Facts.BeliefOverlaps == 0 {
			t.Errorf("relative TTL %v: felt %v, %s, %d beliefs overlap", relative, m.FaultsFelt[0], m.Verdict.Label,
				m.Verdict.Facts.BeliefOverlaps)
		}
	}
}

// Without the overlay it has one clock for all, and the run says that the fault was not
// felt.
func TestNotFeltWithoutTheOverlay(t *testing.T) {
	if sim.Overlaid() {
		t.Skip("it runs without the overlay")
	}
	l := rueidisLock(false, func(e scenarios.Env) rueidis.ClientOption {
		return rueidis.ClientOption{DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn,
			error) {
			return e.Dial(ctx, "tcp", addr)
		}}
	})
	if m := played(t, l); m.FaultsFelt[0] || m.Verdict.Label != checker.Safe {
		t.Errorf("felt %v, %s", m.FaultsFelt[0], m.Verdict.Label)
	}
}
