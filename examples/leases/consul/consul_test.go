package consul

import (
	"testing"

	"locksim/examples/leases/internal/leasetest"
	"locksim/scenarios"
)

// Each scenario ends as it says, with each of its locks: no seed is worse than expected, and one is as bad.
func TestScenarios(t *testing.T) { leasetest.Scenarios(t, All()) }

// 100 runs of one seed are equal with one processor, and 100 with two.
func TestRepeats(t *testing.T) {
	for _, name := range []string{"consul-leader-crash", "consul-partition", "consul-session-invalidated", "consul-stale-token"} {
		for _, l := range []scenarios.Lock{Lock(), Semaphore()} {
			leasetest.Repeats(t, "scenarios/"+name+".yaml", l, 100)
		}
	}
}

// The locks keep their promises.
func TestPromises(t *testing.T) {
	for _, l := range []scenarios.Lock{Lock(), Semaphore()} {
		t.Run(l.Name, func(t *testing.T) { scenarios.Check(t, l, scenarios.Options{Seed: 1}) })
	}
}

// Check finds consul issue 18271 at its default settings, by what the documentation of Lock says.
func TestIssue18271(t *testing.T) {
	text := leasetest.Fails(t, Documented())
	t.Log(text)
}
