package play_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// A run without the baseline is the same run, with the same facts. It cannot find
// that the fence has rescued the data, so it has the next worst label.
func TestAloneIsTheSameRun(t *testing.T) {
	for _, c := range []struct {
		scenario      string
		mode          fence.Mode
		whole, single checker.Label
	}{
		{"gc-pause", fence.Seal, checker.Rescued, checker.Overlap},
		{"gc-pause", fence.Check, checker.Rescued, checker.Overlap},
		{"gc-pause", fence.Claim, checker.Rescued, checker.Overlap},
		{"gc-pause", fence.None, checker.Corrupted, checker.Corrupted},
		{"late-packet", fence.Seal, checker.Rescued, checker.Safe},
		{"calm", fence.Seal, checker.Safe, checker.Safe},
		{"failover-before-replication", fence.Strict, checker.FalseReject, checker.FalseReject},
	} {
		t.Run(c.scenario+" "+string(c.mode), func(t *testing.T) {
			sc, l := testruns.Load(t, c.scenario)
			opts := play.RunOptions{Seed: 1, Modes: []fence.Mode{c.mode}}
			whole := testruns.Play(t, sc, l, opts).Modes[0]
			opts.Alone = true
			alone := testruns.Play(t, sc, l, opts)
			if len(alone.Modes) != 1 || alone.Modes[0].Mode != c.mode {
				t.Fatalf("it ran in %d modes", len(alone.Modes))
			}
			same(t, whole, alone.Modes[0])
			if got := alone.Modes[0].Verdict.Label; got != c.single || whole.Verdict.Label != c.whole {
				t.Errorf("%s with the baseline and %s alone, want %s and %s", whole.Verdict.Label, got, c.whole, c.single)
			}
		})
	}
}

// same checks that two runs are one run: event by event, and fact by fact.
func same(t *testing.T, a, b outcome.ModeRun) {
	t.Helper()
	if d := trace.Diff(a.Trace, b.Trace); d != nil || a.TraceHash != b.TraceHash {
		t.Errorf("another trace: %v", d)
	}
	if diff := cmp.Diff(a.Verdict.Facts, b.Verdict.Facts); diff != "" {
		t.Errorf("other facts (-whole +alone):\n%s", diff)
	}
	if diff := cmp.Diff(a.FaultsFired, b.FaultsFired); diff != "" {
		t.Errorf("other faults fired (-whole +alone):\n%s", diff)
	}
}

// Mode none runs if it is asked for; the labels of the other modes do not depend on
// it.
func TestAloneWithNone(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	opts := play.RunOptions{Seed: 1, Alone: true, Modes: []fence.Mode{fence.None, fence.Seal}}
	var labels []checker.Label
	for _, m := range testruns.Play(t, sc, l, opts).Modes {
		labels = append(labels, m.Verdict.Label)
	}
	if diff := cmp.Diff([]checker.Label{checker.Corrupted, checker.Overlap}, labels); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without the baseline half as many locks are made.
func TestAloneTakesHalf(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	made, build := 0, l.New
	l.New = func(e subject.Env) (lock.Locker, error) { made++; return build(e) }
	testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.Seal}, Alone: true})
	alone := made
	testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.Seal}})
	if whole := made - alone; alone == 0 || whole != 2*alone {
		t.Errorf("%d locks alone, %d with the baseline", alone, whole)
	}
}

// A run without the baseline is repeated like any other.
func TestAloneTwice(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	opts := play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.Seal}}
	whole := testruns.Play(t, sc, l, opts).Modes[0]
	opts.Alone, opts.Repeat = true, outcome.Twice
	same(t, whole, testruns.Play(t, sc, l, opts).Modes[0])
}

// A run of a search has its verdict and no more, but for porcupine's opinion of a share of the runs and of each
// violation.
func TestTryIsBare(t *testing.T) {
	for name, violates := range map[string]bool{"calm": false, "gc-pause": true} {
		sc, l := testruns.Load(t, name)
		l.Promise.Data = string(fence.None)
		asked := 0
		for seed := range uint64(48) {
			o, broken, err := play.Try(l, sc, seed)
			if err != nil {
				t.Fatal(err)
			}
			m := o.Modes[0]
			full := testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{m.Mode}, Alone: true}).Modes[0]
			if m.TraceHash != "" || m.Story != nil || m.Trace.Hash() != full.TraceHash || m.Verdict.Label != full.Verdict.Label {
				t.Fatalf("%s, seed %d: hash %q, %d lines of story, label %s: want only what the full run has too: %s, %s", name,
					seed,
					m.TraceHash, len(m.Story), m.Verdict.Label, full.TraceHash, full.Verdict.Label)
			}
			if m.Corroboration.Agreement != "" {
				asked++
				if m.Corroboration != full.Corroboration {
					t.Errorf("%s, seed %d: porcupine says %v, and %v of the full run", name, seed, m.Corroboration, full.Corroboration)
				}
			}
			if violates != (len(broken) > 0) {
				t.Fatalf("%s, seed %d: %v", name, seed, broken)
			}
		}
		if all := asked == 48; asked == 0 || all != violates {
			t.Errorf("%s: porcupine was asked about %d of 48 runs", name, asked)
		}
	}
}
