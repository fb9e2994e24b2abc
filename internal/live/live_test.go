//go:build linux

package live_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

func TestMain(m *testing.M) {
	if live.Child(locks()...) {
		return
	}
	os.Exit(m.Run())
}

// locks are those of the tests, in the processes of their clients too.
func locks() []play.Lock {
	dies := play.Lock{Name: "dies", New: func(play.Env) (lock.Locker, error) { return dying{}, nil }}
	return []play.Lock{dies}
}

// dying is a lock whose process ends when it is asked for.
type dying struct{}

func (dying) Acquire(context.Context, string) (lock.Lease, error) { panic("this lock dies") }

// require skips a test whose servers are not installed, or fails it where they have to be.
func require(t *testing.T, kind server.Kind) {
	t.Helper()
	if err := server.Missing(kind); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
}

// session is a session for a test.
func session(t *testing.T) *live.Session {
	t.Helper()
	s, err := live.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// load reads a scenario of the library and a lock.
func load(t *testing.T, scenario, lock string) (*file.Scenario, play.Lock) {
	t.Helper()
	sc, err := file.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	l, err := play.FindLock(lock, locks())
	if err != nil {
		t.Fatal(err)
	}
	return sc, l
}

// scale is that of the tests: a machine with other work to do is late by tens of milliseconds, a small part of a lease.
const scale = 0.2

// steady makes runs until the machine was never late by a tenth of a lease: what it shows otherwise is the machine.
func steady(t *testing.T, s *live.Session, sc *file.Scenario, l play.Lock, modes ...fence.Mode) *play.Outcome {
	t.Helper()
	for range 4 {
		out, err := s.Run(context.Background(), sc, l, live.Options{Seed: 1, Modes: modes, Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(out.Modes, func(m play.ModeRun) bool { return m.Late > out.Scenario.Lock.TTL/10 }) {
			return out
		}
	}
	t.Skip("the machine has too much other work to do: in four runs it was late by a tenth of a lease")
	return nil
}

// The scenarios end on real Redis servers as in the simulated world: with a label that some seed shows there. They mostly
// sleep, so all are played at once.
func TestRedis(t *testing.T) {
	require(t, server.Redis)
	s := session(t)
	t.Run("all", func(t *testing.T) {
		for _, name := range []string{"gc-pause", "partition-holder", "late-packet", "failover-before-replication", "holder-crash", "flushall", "lost-reply"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				sc, l := load(t, name, "fenced")
				seen := map[fence.Mode][]checker.Label{}
				for seed := range uint64(5) {
					o, err := play.Run(sc, l, play.RunOptions{Seed: seed + 1, Modes: []fence.Mode{fence.None, fence.Seal}})
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range o.Modes {
						seen[m.Mode] = append(seen[m.Mode], m.Verdict.Label)
					}
				}
				out := steady(t, s, sc, l, fence.None, fence.Seal)
				if len(out.NeverFired()) > 0 {
					t.Errorf("faults %v did not strike", out.NeverFired())
				}
				for _, m := range out.Modes {
					if why := strings.Join(m.NotPlayed, ""); why != "" || m.Trace.Len() == 0 || m.Virtual == 0 {
						t.Errorf("mode %s: %d events in %v, not played: %s", m.Mode, m.Trace.Len(), m.Virtual, why)
					}
					if !slices.Contains(seen[m.Mode], m.Verdict.Label) {
						t.Errorf("mode %s: %s, in the simulated world %v: %v", m.Mode, m.Verdict.Label, seen[m.Mode], m.Verdict.Reasons)
						for _, line := range m.Story {
							t.Logf("%10v %3d %-5s %s", line.At.Round(time.Microsecond), line.N, line.Actor, line.Text)
						}
					}
				}
			})
		}
	})
}

// A fault that strikes at an event strikes between that event and the client's next step.
func TestStrikesAtTheEvent(t *testing.T) {
	require(t, server.Redis)
	sc, l := load(t, "gc-pause", "fenced")
	out := steady(t, session(t), sc, l, fence.None)
	var own []string
	for _, e := range out.Modes[0].Trace.Events {
		if e.Actor == "c0" || e.Peer == "c0" && e.Actor == "world" {
			own = append(own, e.Kind())
		}
	}
	at := slices.Index(own, "pause")
	if at < 1 || own[at-1] != "read" || at+2 > len(own) || !slices.Contains([]string{"until", "resume"}, own[at+1]) {
		t.Errorf("around the pause c0 has %v", own)
	}
}

// The end of a process that no fault has killed is an error of the run, with what the process has written.
func TestProcessEnds(t *testing.T) {
	require(t, server.Redis)
	sc, l := load(t, "calm", "dies")
	_, err := session(t).Run(context.Background(), sc, l, live.Options{Modes: []fence.Mode{fence.None}})
	if err == nil || !strings.Contains(err.Error(), "this lock dies") {
		t.Errorf("the error is %v", err)
	}
}

// An interrupted run ends at once, and leaves no process.
func TestInterrupted(t *testing.T) {
	require(t, server.Redis)
	s := session(t)
	sc, l := load(t, "gc-pause", "fenced")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := s.Run(ctx, sc, l, live.Options{Scale: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// What cannot be played is refused before anything is started.
func TestRefused(t *testing.T) {
	require(t, server.Redis)
	sc, l := load(t, "gc-pause", "fenced")
	if err := live.Check(sc, l, 0.0001); err == nil || !strings.Contains(err.Error(), "--scale") {
		t.Errorf("a tiny scale: %v", err)
	}
	if err := live.Check(sc, l, 0.1); err != nil {
		t.Error(err)
	}
}
