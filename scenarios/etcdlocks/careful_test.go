package etcdlocks_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// An Unlock or a Resign under a context that has ended fails and leaves its key: the caller of these locks does not do
// that, so that a request that takes too long does not keep the others out for ever.
func TestReleasedByACarefulCaller(t *testing.T) {
	sc, _ := testruns.Load(t, "abandoned-place")
	for name, l := range map[string]scenarios.Lock{
		"etcd-mutex": etcdlocks.Mutex(), "etcd-election": etcdlocks.Election(),
	} {
		if m := testruns.Play(t, sc, l,
			scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]; m.Verdict.Label != checker.Safe {
			t.Errorf("%s: %s: %v", name, m.Verdict.Label, m.Verdict.Reasons)
		}
	}
	careless := etcdlocks.TryLibrary("careless", etcdlocks.NewSession, etcdlocks.NewMutex)
	if m := testruns.Play(t, sc, careless,
		scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]; m.Verdict.Label != checker.Stuck {
		t.Errorf("with a careless caller it is %s", m.Verdict.Label)
	}
}
