package kube

import (
	"strings"
	"testing"
	"time"

	"locksim/examples/leases/internal/leasetest"
	"locksim/scenarios"
)

// The scenarios end as their files expect.
func TestScenarios(t *testing.T) { leasetest.Scenarios(t, All()) }

// Runs of a seed are equal on each number of processors, a hundred of them with LOCKSIM_SOAK=1: lost answers, a
// partition, a pause, a slow webhook.
func TestRepeats(t *testing.T) {
	for _, name := range []string{"kube-lost-answers", "kube-partition", "kube-successor-released", "kube-slow-webhook"} {
		leasetest.Repeats(t, "scenarios/"+name+".yaml", Lease(), leasetest.Part(100))
	}
}

// An elector that gives nothing up keeps its promise.
func TestKept(t *testing.T) {
	scenarios.Check(t, Kept(), scenarios.Options{Runs: leasetest.Part(4000), Seed: 1})
}

// Check finds the mistakes, but for that of kube-short, which needs some thousands of runs.
func TestSpecimensAreFound(t *testing.T) {
	for _, l := range Specimens() {
		if l.Name = strings.TrimPrefix(l.Name, "broken/"); l.Name == "kube-short" {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			if text := leasetest.Fails(t, l); !strings.Contains(text, l.Name+" fails") {
				t.Errorf("it fails by something else:\n%s", text)
			}
		})
	}
}

// Each resource has a lease of its own, of a name that Kubernetes allows.
func TestNamesOfLeases(t *testing.T) {
	for resource, want := range map[string]string{
		"order": "lease-order-lock", "order:10": "lease-order-3a10-lock", "": "lease--lock",
		"Ördér?": "lease--c3-96rd-c3-a9r-3f-lock",
	} {
		if got := Name(resource); got != want {
			t.Errorf("the lease of %q is %q, want %q", resource, got, want)
		}
	}
	if Name("a-3a") == Name("a:") {
		t.Error("two resources have one lease")
	}
}

// A leader makes its lease anew that an operator has deleted. One that finds another identity in it stops when its
// renew deadline is over, and the others wait for the lease of that identity.
func TestOperator(t *testing.T) {
	for fault, want := range map[string][2]time.Duration{
		"edit_key: {node: api1}":                 {20 * time.Second, 23 * time.Second},
		"edit_key: {node: api0, how: overwrite}": {6*time.Second + 15*time.Second, 27 * time.Second},
	} {
		at, felt := leasetest.NextGrant(t, Lease(), "kube: 2", fault)
		if !felt || at < want[0] || at > want[1] {
			t.Errorf("%s: the next client leads at %v, want %v; felt %v", fault, at, want, felt)
		}
	}
}
