package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/cmd/locksim/app"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
)

// The variable commandInstead in the environment makes the test the command.
const commandInstead = "REDSYNC_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandInstead) != "" {
		os.Exit(app.Main(underTest()))
	}
	os.Exit(m.Run())
}

// Under the faults of its promise redsync's claims exclude each other, and the
// data are correct behind the fence claim.
func TestRedsync(t *testing.T) {
	scenarios.Check(t, underTest(), scenarios.Options{Runs: 100, Seed: 1})
}

// withoutPromise fails: it judges redsync as if a lock without tokens could
// protect the data. A long or paused section that outlives its lease corrupts
// them (F11, F12).
func withoutPromise(t *testing.T) {
	l := underTest()
	l.Promise = lock.Promise{}
	scenarios.Check(t, l, scenarios.Options{Runs: 100, Seed: 1, Faults: []lock.Fault{lock.FaultPause}, Dir: t.TempDir()})
}

// The test that must fail runs in its own process.
func TestWithoutPromise(t *testing.T) {
	const alone = "REDSYNC_ALONE"
	if os.Getenv(alone) != "" {
		withoutPromise(t)
		return
	}
	out := fails(t, alone, "-test.run", "^TestWithoutPromise$")
	demand(t, out, "redsync fails: corrupted in mode none", "a stale write", "replay: ")
}

// The same from the command line: go run . explore --lock redsync --faults pause
func TestExplore(t *testing.T) {
	out := fails(t, commandInstead, "explore", "--lock", "redsync", "--faults", "pause", "--runs", "100")
	demand(t, out, "redsync fails: corrupted in mode none", "a stale write", "replay: ")
}

// A pause between the read and the write corrupts the data; with the same seed
// and the fence claim they are correct.
func TestPauseCorrupts(t *testing.T) {
	sc, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, underTest(), scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None, fence.Claim},
		Repeat: scenarios.Twice})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []checker.Label{checker.Corrupted, checker.Rescued} {
		if got := o.Modes[i].Verdict; got.Label != want {
			t.Errorf("mode %s: %s, want %s: %v", o.Modes[i].Mode, got.Label, want, got.Reasons)
		}
	}
}

// lateCleanUp was found by a search, in run 19,418: c0's first try has no
// majority in time, and its clean-up, which is 7 seconds under way on a
// connection that redsync has given up, deletes the keys of the second try.
const lateCleanUp = `name: late-clean-up
world: {redis: 3, clients: 2, latency: 1ms}
lock: {kind: redsync, ttl: 7.92s, backoff: 396ms..1.584s}
workload: {rounds: 2, hold: 600ms, think: 4s, stagger: 0s, checks_until: never}
faults:
  - when: {client: c1, event: acquire, nth: 1}
    delay_message: {between: [c1], by: 3s, direction: both}
  - when: {client: c0, event: released, nth: 1}
    delay_message: {between: [c0], and: [r0], by: 400ms}
  - when: {client: c0, event: written, nth: 1}
    after: 3s
    delay_message: {between: [c0], by: 7s}
`

// A message that is held back breaks redsync's claims: see promise.
func TestLateCleanUp(t *testing.T) {
	sc, err := file.Parse("late-clean-up.yaml", []byte(lateCleanUp))
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, underTest(), scenarios.RunOptions{Seed: 19418, Modes: []fence.Mode{fence.Claim},
		Repeat: scenarios.Twice})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range o.Modes {
		if m.Verdict.Facts.ClaimOverlaps != 1 {
			t.Errorf("mode %s: %d claims overlap: %v", m.Mode, m.Verdict.Facts.ClaimOverlaps, m.Verdict.Reasons)
		}
	}
}

// fails runs this program with a variable set, and wants exit code 1.
func fails(t *testing.T, variable string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("%v: exit code %d, want 1:\n%s", args, code, out)
	}
	return string(out)
}

func demand(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("the output lacks %q:\n%s", w, out)
		}
	}
}

// A release whose context ends before each server was asked has freed the lock with a majority: the key that remains on
// one of three, until its TTL, keeps no one out. It was called stuck.
func TestReleaseOfTheMost(t *testing.T) {
	sc, err := file.Parse("most.yaml", []byte(`name: most
world: {redis: 3, clients: 1, latency: 1ms..5ms}
lock: {kind: redsync, ttl: 7.92s, backoff: 158ms}
workload: {rounds: 1, hold: 5ms, release_within: 5ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(200) {
		o, err := scenarios.Run(sc, underTest(), scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if v := o.Modes[0].Verdict; v.Facts.Liveness != checker.LivenessOK {
			t.Fatalf("seed %d: %s: %v", seed, v.Label, v.Reasons)
		}
	}
}
