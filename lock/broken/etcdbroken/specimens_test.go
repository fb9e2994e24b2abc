package etcdbroken_test

import (
	"testing"

	"locksim/checker"
	"locksim/lock/broken/etcdbroken"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// The lock without the mistakes is safe where each of the specimens is not, so it is the mistake that the scenarios
// show. (Nothing renews it either, so it has no part in the scenario of that.)
func TestRightIsSafe(t *testing.T) {
	wrong := map[string]bool{}
	for name, scenario := range map[string]string{
		"etcd-put-without-compare": "etcd-put-without-compare",
		"etcd-until-from-answer":   "etcd-until-from-answer",
		"etcd-lease-as-token":      "etcd-lease-as-token",
	} {
		for _, s := range append(etcdbroken.All(), etcdbroken.Right()) {
			isRight := s.Name == etcdbroken.Right().Name
			if s.Name != name && !isRight {
				continue
			}
			l := etcdlocks.Specimen(s)
			sc, err := scenarios.Load(scenario, l)
			if err != nil {
				t.Fatal(err)
			}
			for seed := uint64(1); seed <= 5; seed++ {
				modes := []fence.Mode{fence.None}
				if l.Tokens {
					modes = append(modes, fence.Check)
				}
				o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: modes, Alone: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range o.Modes {
					safe := m.Verdict.Label == checker.Safe
					if isRight && !safe {
						t.Errorf("%s, seed %d, %s: without the mistake it is %s", scenario, seed, m.Mode, m.Verdict.Label)
					}
					wrong[name] = wrong[name] || !isRight && !safe
				}
			}
		}
		if !wrong[name] {
			t.Errorf("%s: the mistake does not show", scenario)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := etcdbroken.All()[0].New(nil, etcdbroken.Options{}); err == nil {
		t.Error("a lock without a client")
	}
}
