package kube

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/sim/trace"
)

// find is the lock of that name.
func find(t *testing.T, name string) scenarios.Lock {
	t.Helper()
	all := All()
	i := slices.IndexFunc(all, func(l scenarios.Lock) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("there is no lock %s", name)
	}
	return all[i]
}

// load reads a scenario of this package.
func load(t *testing.T, path string) *scenarios.Scenario {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := scenarios.Parse(path, data, All()...)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// play makes one run of a scenario.
func play(t *testing.T, sc *scenarios.Scenario, l scenarios.Lock, seed uint64, modes ...fence.Mode) *scenarios.Outcome {
	t.Helper()
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: modes})
	if err != nil {
		t.Fatalf("%s with %s, seed %d: %v", sc.Name, l.Name, seed, err)
	}
	return o
}

// Each scenario ends as it says, with each of its locks: no seed is worse than expected, and of twenty one is as bad.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("scenarios/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("there are %d scenarios: %v", len(files), err)
	}
	seeds := uint64(20)
	if testing.Short() {
		seeds = 2
	}
	for _, file := range files {
		sc := load(t, file)
		for _, name := range sc.LockNames() {
			t.Run(sc.Name+"/"+strings.TrimPrefix(name, "broken/"), func(t *testing.T) {
				l, seen := find(t, name), map[fence.Mode]bool{}
				for seed := uint64(1); seed <= seeds; seed++ {
					for _, m := range play(t, sc, l, seed, fence.None, fence.Seal).Modes {
						expected := sc.Expect[name][m.Mode]
						if m.Verdict.Label.Severity() > expected.Severity() {
							t.Errorf("seed %d, mode %s: %s, and %s was expected", seed, m.Mode, m.Verdict.Label, expected)
						}
						seen[m.Mode] = seen[m.Mode] || m.Verdict.Label == expected
					}
				}
				for mode, ok := range seen {
					if !ok && !testing.Short() {
						t.Errorf("mode %s: no seed of %d ended as expected", mode, seeds)
					}
				}
			})
		}
	}
}

// 100 runs of one seed are equal, with one processor and with two.
func TestRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range []string{"kube-lost-answers", "kube-partition", "kube-successor-released", "kube-slow-webhook"} {
		sc, l := load(t, "scenarios/"+name+".yaml"), find(t, "kube-lease")
		var first *trace.Trace
		for i := range 200 {
			runtime.GOMAXPROCS(1 + i%2)
			now := play(t, sc, l, 3, fence.None).Modes[0].Trace
			if first == nil {
				first = now
			}
			if d := trace.Diff(first, now); d != nil {
				t.Fatalf("%s: run %d differs: %v", name, i+1, d)
			}
		}
		t.Logf("%s: %d events in each run", name, first.Len())
	}
}

// The elector keeps its promise where nothing is given up.
func TestKeptKeepsItsPromise(t *testing.T) {
	scenarios.Check(t, Kept(), scenarios.Options{Runs: 400, Seed: 1})
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
