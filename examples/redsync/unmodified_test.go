package main

import (
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// All runs of redsync are repeatable, although it draws from the global sources. Without a fault they are safe; a pause
// corrupts the data of some.
func TestRepeatable(t *testing.T) {
	for name, want := range map[string]checker.Label{"calm": checker.Safe, "gc-pause": checker.Corrupted} {
		sc, err := scenarios.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		worst := checker.Label("")
		for seed := uint64(1); seed <= 10; seed++ {
			o, err := scenarios.Run(sc, underTest(), scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None},
				Repeat: scenarios.Twice})
			if err != nil {
				t.Fatal(err)
			}
			verdict := o.Modes[0].Verdict
			worst = checker.Worse(worst, verdict.Label)
			if verdict.Facts.Contended == 0 {
				t.Errorf("%s seed %d: no client contended", name, seed)
			}
		}
		if worst != want {
			t.Errorf("%s: the worst label is %s, want %s", name, worst, want)
		}
	}
}

// Clients of a quorum lock that ask at the same time may split the votes. Then no client has the lock until one of them
// asks again: that is not stuck.
func TestSplitVotes(t *testing.T) {
	l := underTest()
	l.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}}
	space, err := search.Discover(l, spaces.Space{Clients: spaces.Span{Min: 4, Max: 4}, Faults: []lock.Fault{}})
	if err != nil {
		t.Fatal(err)
	}
	split := false
	for trial := range search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: 200})) {
		if trial.Err != nil || len(trial.Violations) > 0 {
			t.Fatalf("%v %v", trial.Err, trial.Violations)
		}
		if trial.Outcome.Modes[0].Verdict.Facts.IdleSeconds > 0 {
			split = true
			break
		}
	}
	if !split {
		t.Error("no vote was split")
	}
}
