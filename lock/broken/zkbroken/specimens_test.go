package zkbroken_test

import (
	"testing"

	"locksim/checker"
	"locksim/lock/broken/zkbroken"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/zklocks"
	"locksim/sim/trace"
)

// play plays a scenario with a specimen.
func play(t *testing.T, scenario string, s zkbroken.Specimen, seed uint64) scenarios.ModeRun {
	t.Helper()
	l := zklocks.Specimen(s)
	l.Promise = zklocks.Lock().Promise // a session ends later than a TTL
	l.Promise.Order, l.Promise.Duties = "", nil
	sc, err := scenarios.Load(scenario, l)
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	return o.Modes[0]
}

// The lock without the mistakes is safe where a specimen is not, so it is the mistake that the scenario shows. (Without
// renewals it has no part in the others.)
func TestRightIsSafe(t *testing.T) {
	for _, s := range zkbroken.All() {
		if s.Name != "zk-persistent" && s.Name != "zk-adopts" {
			continue
		}
		wrong := false
		for seed := uint64(1); seed <= 5; seed++ {
			wrong = wrong || play(t, s.Name, s, seed).Verdict.Label != checker.Safe
			if label := play(t, s.Name, zkbroken.Right(), seed).Verdict.Label; label != checker.Safe {
				t.Errorf("%s, seed %d: without the mistake it is %s", s.Name, seed, label)
			}
		}
		if !wrong {
			t.Errorf("%s: the mistake does not show", s.Name)
		}
	}
}

// A herd of five asks a quarter more, at least, than waiters that watch one node each.
func TestHerd(t *testing.T) {
	requests := func(s zkbroken.Specimen) (count int) {
		for _, e := range play(t, "zk-herd", s, 1).Trace.Events {
			if x, ok := e.What.(trace.Exec); ok && x.Answer != nil {
				count++
			}
		}
		return count
	}
	herd, right := requests(zkbroken.All()[0]), requests(zkbroken.Right())
	if herd*4 < right*5 {
		t.Errorf("%d requests of the herd, %d without", herd, right)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := zkbroken.All()[0].New(nil, zkbroken.Options{}); err == nil {
		t.Error("a lock without a connection")
	}
}
