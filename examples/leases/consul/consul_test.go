package consul

import (
	"strings"
	"testing"
	"time"

	"locksim/examples/leases/internal/leasetest"
	"locksim/internal/soak"
	"locksim/scenarios"
)

// Each scenario ends as it says, with each of its locks: no seed is worse than expected, and one is as bad.
func TestScenarios(t *testing.T) { leasetest.Scenarios(t, All()) }

// Runs of one seed are equal, with one processor and with two: a hundred of each with LOCKSIM_SOAK=1.
func TestRepeats(t *testing.T) {
	for _, name := range []string{
		"consul-leader-crash", "consul-partition", "consul-session-invalidated", "consul-stale-token",
	} {
		for _, l := range []scenarios.Lock{Lock(), Semaphore()} {
			leasetest.Repeats(t, "scenarios/"+name+".yaml", l, leasetest.Part(100))
		}
	}
}

// The locks keep their promises.
func TestPromises(t *testing.T) {
	for _, l := range []scenarios.Lock{Lock(), Semaphore()} {
		t.Run(l.Name, func(t *testing.T) { scenarios.Check(t, l, scenarios.Options{Seed: 1, Runs: leasetest.Part(2000)}) })
	}
}

// Check finds consul issues 18271 and 8736 at its default settings, by what the documentation of Lock says: a holder
// that is cut off is not told until it is connected again, and its successor is in meanwhile.
func TestIssue18271(t *testing.T) {
	soak.Only(t, "it takes half a minute")
	text := leasetest.Fails(t, Documented())
	for _, want := range []string{
		"seed 590: consul-lock-documented fails: overlap", "if this fault strikes: partition?",
		"while the claim of c0 goes on",
		"partition: {between: [c0], and: [consul0], for: 50s}", "workload: {rounds: 1,",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%s", want, text)
		}
	}
}

// Check finds the mistakes.
func TestSpecimensAreFound(t *testing.T) {
	for _, l := range Specimens() {
		l.Name = strings.TrimPrefix(l.Name, "broken/")
		t.Run(l.Name, func(t *testing.T) {
			if text := leasetest.Fails(t, l); !strings.Contains(text, l.Name+" fails") {
				t.Errorf("it fails by something else:\n%s", text)
			}
		})
	}
}

// An operator who deletes the key lets the next client in at once. One who ends the session leaves it the lock-delay.
// One who writes the key takes its flags away: a client that waits is refused.
func TestOperator(t *testing.T) {
	for fault, want := range map[string][2]time.Duration{
		"edit_key: {node: consul1}":                {6 * time.Second, 7 * time.Second},
		"end_session: {node: consul1}":             {21 * time.Second, 22 * time.Second},
		"edit_key: {node: leader, how: overwrite}": {0, 0},
	} {
		at, felt := leasetest.NextGrant(t, Lock(), "consul: 3", fault)
		if !felt || at < want[0] || at > want[1] {
			t.Errorf("%s: the next client is granted the lock at %v, want %v; felt %v", fault, at, want, felt)
		}
	}
}
