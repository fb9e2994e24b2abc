package natskv_test

import (
	"strings"
	"testing"

	"locksim/examples/leases/internal/leasetest"
	"locksim/examples/leases/natskv"
	"locksim/scenarios"
)

// No run breaks the promise of the lock.
func TestKV(t *testing.T) {
	scenarios.Check(t, natskv.KV(), scenarios.Options{Runs: leasetest.Part(2000), Seed: 1})
}

// The scenarios end as their files expect.
func TestScenarios(t *testing.T) { leasetest.Scenarios(t, natskv.All()) }

// Runs of a seed are equal, on one processor and on two, a hundred of them with LOCKSIM_SOAK=1: a pause, a server that
// restarts, a holder that is cut off, requests of many clients at the end of a stall.
func TestRepeats(t *testing.T) {
	for _, file := range []string{"scenarios/nats-pause", "scenarios/nats-restart", "scenarios/nats-partition",
		"testdata/end-of-stall"} {
		leasetest.Repeats(t, file+".yaml", natskv.KV(), leasetest.Part(100))
	}
	leasetest.Repeats(t, "scenarios/nats-no-lock.yaml", natskv.CompareAndSet(), leasetest.Part(100))
}

// Check finds each mistake, also where it breaks nothing but the promise of the right lock: so it is judged by that.
func TestSpecimensAreFound(t *testing.T) {
	for _, l := range natskv.Specimens() {
		t.Run(strings.TrimPrefix(l.Name, "broken/"), func(t *testing.T) {
			l.Promise = natskv.KV().Promise
			l.Name = strings.TrimPrefix(l.Name, "broken/")
			if text := leasetest.Fails(t, l); !strings.Contains(text, l.Name+" fails") {
				t.Errorf("it fails by something else:\n%s", text)
			}
		})
	}
}
