package play_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// No label is worse than each scenario expects of its own lock, clients contend,
// every fault strikes, and porcupine agrees. The test of package library covers all
// locks with one seed, and the matrix twenty seeds.
func TestLibraryAsExpected(t *testing.T) {
	for _, sc := range librarySample(t) {
		kind := sc.LockNames()[0]
		if slices.Contains(sc.LockNames(), sc.Lock.Kind) {
			kind = sc.Lock.Kind
		}
		t.Run(sc.Name, func(t *testing.T) { checkExpectation(t, sc, kind) })
	}
}

func checkExpectation(t *testing.T, sc *file.Scenario, kind string) {
	l, err := redislocks.Kind(kind)
	if err != nil {
		t.Fatal(err)
	}
	contended, worst := 0, checker.Label("")
	seeds := testruns.Soak(t, 20, 0.1)
	if seeds <= 2 { // each scenario and lock is there
		seeds = 1
	}
	for seed := range uint64(seeds) {
		o := testruns.Play(t, sc, l, play.RunOptions{Seed: seed + 1, Modes: slices.Sorted(maps.Keys(sc.Expect[kind]))})
		for _, m := range o.Mismatches() {
			t.Errorf("seed %d: %v", seed+1, m)
		}
		for _, i := range o.NeverFired() {
			t.Errorf("seed %d: fault %d never struck", seed+1, i+1)
		}
		for _, m := range o.Modes {
			contended += m.Verdict.Facts.Contended
			worst = checker.Worse(worst, m.Verdict.Label)
			if m.Corroboration.Agreement != checker.Agrees {
				t.Errorf("seed %d, mode %s: porcupine %s: %s", seed+1, m.Mode, m.Corroboration.Agreement, m.Corroboration.Why)
			}
		}
	}
	if contended == 0 && worst == checker.Safe {
		t.Error("no client contended: the label safe is no evidence")
	}
}

// After the crash of its holder the lock is free again within the TTL, one backoff,
// and the round trips of the request that gets it.
func TestHolderCrashWaitIsBounded(t *testing.T) {
	sc, l := testruns.Load(t, "holder-crash")
	bound := sc.Lock.TTL + sc.Lock.Backoff.Max + 4*sc.World.Latency.Max
	for seed := uint64(1); seed <= 50; seed++ {
		for _, m := range testruns.Play(t, sc, l, play.RunOptions{Seed: seed}).Modes {
			if m.LongestWait > bound || m.LongestWait < sc.Lock.TTL/2 {
				t.Errorf("seed %d, mode %s: waited %v, want at most %v, and more than half the TTL", seed, m.Mode, m.LongestWait,
					bound)
			}
		}
	}
}

// In late-packet no two clients ever believe at once that they hold the lock, and
// the data is still lost (F13).
func TestLatePacketNeedsNoOverlap(t *testing.T) {
	sc, l := testruns.Load(t, "late-packet")
	for seed := uint64(1); seed <= 20; seed++ {
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
		f := m.Verdict.Facts
		if f.Data != checker.DataCorrupted || f.BeliefOverlaps != 0 || f.ClaimOverlaps != 0 {
			t.Errorf("seed %d: %s", seed, describe(f))
		}
	}
}

func describe(f checker.Facts) string {
	return fmt.Sprintf("data %s, %d claim overlaps, %d belief overlaps", f.Data, f.ClaimOverlaps, f.BeliefOverlaps)
}

// The runs of the modes agree up to the first refusal: the schedule and every
// draw are the same, only the store judges differently.
func TestModesAgreeUpToTheFirstRefusal(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	o := testruns.Play(t, sc, l, play.RunOptions{Seed: 3})
	d := trace.Diff(o.Modes[0].Trace, o.Modes[2].Trace)
	if d == nil || d.B == nil {
		t.Fatalf("seal has no event that none has not: %v", d)
	}
	if _, ok := d.B.What.(trace.Decision); !ok {
		t.Errorf("the first difference is not a decision of the store: %v", d.B)
	}
}

// A lock that mints no tokens has no runs in the modes that need them.
func TestModesWithoutTokens(t *testing.T) {
	sc, _ := testruns.Load(t, "gc-pause")
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None, fence.Check, fence.Seal,
		fence.Strict}})
	if got := o.Modes[0].Verdict.Label; got != checker.Corrupted {
		t.Errorf("mode none: %s", got)
	}
	for _, m := range o.Modes[1:] {
		if m.Verdict.Label != checker.NotApplicable || m.Trace != nil {
			t.Errorf("mode %s: %s, want n/a and no run", m.Mode, m.Verdict.Label)
		}
	}
}

// A story marks the one step that decided the run, and names it.
func TestStoryNamesTheFatalStep(t *testing.T) {
	for _, name := range []string{"gc-pause", "partition-holder", "late-packet"} {
		sc, l := testruns.Load(t, name)
		for _, m := range testruns.Play(t, sc, l, play.RunOptions{Seed: 1}).Modes {
			var fatal []string
			for _, line := range m.Story {
				if line.Fatal {
					fatal = append(fatal, line.Text)
				}
			}
			if len(fatal) != 1 || !strings.Contains(fatal[0], "stale") || !strings.Contains(fatal[0], "write c0.w2") {
				t.Errorf("%s, mode %s: the fatal steps are %q, want c0's stale write", name, m.Mode, fatal)
			}
		}
	}
}

// A fault that affects several processes names them all.
func TestStoryNamesTheProcessesOfAPartition(t *testing.T) {
	sc, err := file.Parse("two.yaml", []byte(`
name: two
world: {clients: 3}
faults:
  - at: 1s
    partition: {between: [c0, c1], and: [r0], for: 3s}
`))
	if err != nil {
		t.Fatal(err)
	}
	_, l := testruns.Load(t, "calm")
	found := 0
	for _, line := range testruns.Play(t, sc, l, play.RunOptions{Seed: 1}).Modes[0].Story {
		if strings.HasPrefix(line.Text, "c0,c1: CUT OFF from r0") || line.Text == "c0,c1: CONNECTED again" {
			found++
		}
	}
	if found != 2 {
		t.Errorf("the story has the partition in %d lines, want its beginning and its end", found)
	}
}

// A careful client that checks the end of its lease before each step does not
// write after a pause between read and write: the pause ends before its check.
func TestCarefulClientSurvivesThePause(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	careful := *sc
	careful.Workload.ChecksUntil = checker.CareSteps
	for seed := uint64(1); seed <= 20; seed++ {
		m := testruns.Play(t, &careful, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
		if m.Verdict.Facts.Data != checker.DataRight || m.Verdict.Facts.StaleAccepted != 0 {
			t.Errorf("seed %d: %s, %d stale writes", seed, m.Verdict.Label, m.Verdict.Facts.StaleAccepted)
		}
	}
}

// A bad lock or an impossible mode is an error.
func TestRunRefusesNonsense(t *testing.T) {
	sc, l := testruns.Load(t, "calm")
	for name, broken := range map[string]subject.Lock{
		"no name": {New: l.New}, "no New": {Name: "x"},
		"nodes": {Name: "x", New: l.New, Traits: subject.Traits{Servers: subject.Redis(99)}},
	} {
		if _, err := play.Run(sc, broken, play.RunOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	long := *sc
	long.Workload.Hold = -time.Second
	if _, err := play.Run(&long, l, play.RunOptions{}); err == nil {
		t.Error("a negative hold: no error")
	}
}

// silent is a broken adapter: its Acquire returns neither a lease nor an error.
type silent struct{}

func (silent) Acquire(context.Context, string) (lock.Lease, error) { return nil, nil }

// An adapter that returns neither a lease nor an error is reported with the name of the lock.
func TestAdapterWithoutALease(t *testing.T) {
	sc, _ := testruns.Load(t, "calm")
	l := subject.Lock{Name: "silent", New: func(subject.Env) (lock.Locker, error) { return silent{}, nil }}
	_, err := play.Run(sc, l, play.RunOptions{Seed: 1})
	if err == nil || !strings.Contains(err.Error(), "the Acquire of lock silent returned neither a lease nor an error") {
		t.Errorf("got %v", err)
	}
}

// Judged as a live run, a simulated one has the label of its clients' history: a free lock may stay idle, a place in a
// queue is not known, and a rescue is measured as before.
func TestJudgedAsLive(t *testing.T) {
	for _, c := range []struct {
		scenario, lock string
		modes          []fence.Mode
		want           map[fence.Mode]checker.Label
	}{
		{"gc-pause", "fenced", []fence.Mode{fence.None, fence.Seal},
			map[fence.Mode]checker.Label{fence.None: checker.Corrupted, fence.Seal: checker.Rescued}},
		{"gc-pause", "single", []fence.Mode{fence.None, fence.Seal},
			map[fence.Mode]checker.Label{fence.None: checker.Corrupted, fence.Seal: checker.NotApplicable}},
		{"redis-clock-back", "fenced", []fence.Mode{fence.None}, map[fence.Mode]checker.Label{fence.None: checker.Safe}},
		{"crowded-queue", "broken/queue-of-ten", []fence.Mode{fence.None},
			map[fence.Mode]checker.Label{fence.None: checker.Safe}},
	} {
		sc, err := file.Load(c.scenario)
		if err != nil {
			t.Fatal(err)
		}
		l, err := redislocks.Find(c.lock, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: c.modes})
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.JudgedAsLive()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s with %s (-want +got):\n%s", c.scenario, c.lock, d)
		}
	}
}
