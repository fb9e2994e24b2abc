// Package leasetest has the tests that the locks of this module share.
package leasetest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/sim/trace"
)

// whole says that LOCKSIM_SOAK=1 asks for the tests at full size.
func whole() bool { return os.Getenv("LOCKSIM_SOAK") == "1" }

// Part is all with LOCKSIM_SOAK=1, and otherwise a fiftieth.
func Part(all int) int {
	if whole() {
		return all
	}
	return all / 50
}

func load(t *testing.T, path string, locks []scenarios.Lock) *scenarios.Scenario {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := scenarios.Parse(path, data, locks...)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func play(t *testing.T, sc *scenarios.Scenario, l scenarios.Lock, seed uint64, modes ...fence.Mode) *scenarios.Outcome {
	t.Helper()
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: modes})
	if err != nil {
		t.Fatalf("%s with %s, seed %d: %v", sc.Name, l.Name, seed, err)
	}
	return o
}

// Scenarios plays the files of the folder scenarios with those of the locks that they name: no seed ends worse than a
// scenario expects, and of ten one is as bad. With LOCKSIM_SOAK=1 all ten are played, and else two at least, up to that
// one. The short test has two seeds, and no lower bound.
func Scenarios(t *testing.T, locks []scenarios.Lock) { ScenariosIn(t, "scenarios", locks) }

// ScenariosIn plays the files of another folder in that way.
func ScenariosIn(t *testing.T, folder string, locks []scenarios.Lock) {
	files, err := filepath.Glob(folder + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d scenarios: %v", len(files), err)
	}
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for _, file := range files {
		sc := load(t, file, locks)
		named := sc.LockNames()
		for name := range sc.Expect {
			if !slices.Contains(named, name) {
				t.Errorf("%s expects something of lock %s, which it does not name: add it to locks, or remove the expectation",
					file, name)
			}
		}
		for _, name := range named {
			t.Run(sc.Name+"/"+strings.TrimPrefix(name, "broken/"), func(t *testing.T) {
				i := slices.IndexFunc(locks, func(l scenarios.Lock) bool { return l.Name == name })
				if i < 0 {
					t.Fatalf("there is no lock %s", name)
				}
				meets(t, sc, locks[i], seeds)
			})
		}
	}
}

// meets plays so many seeds of a scenario with a lock, in all modes for which it expects something.
func meets(t *testing.T, sc *scenarios.Scenario, l scenarios.Lock, seeds uint64) {
	var modes []fence.Mode
	for mode := range sc.Expect[l.Name] {
		modes = append(modes, mode)
	}
	slices.Sort(modes)
	seen := map[fence.Mode]bool{}
	for seed := uint64(1); seed <= seeds && (whole() || seed <= 2 || len(seen) < len(modes)); seed++ {
		for _, m := range play(t, sc, l, seed, modes...).Modes {
			expected := sc.Expect[l.Name][m.Mode]
			if m.Verdict.Label.Severity() > expected.Severity() {
				t.Errorf("scenario %s, lock %s, mode %s: got %s, expected %s: go run ./cmd run %s --lock %s --seed %d --fencing %s",
					sc.Name, l.Name, m.Mode, m.Verdict.Label, expected, sc.File, l.Name, seed, m.Mode)
			}
			if m.Verdict.Label == expected {
				seen[m.Mode] = true
			}
		}
	}
	for _, mode := range modes {
		if !seen[mode] && !testing.Short() {
			t.Errorf("mode %s: no seed of %d ended as expected", mode, seeds)
		}
	}
}

// Repeats plays one seed of a scenario with a lock so many times with one processor, and as many with two: all runs
// are equal.
func Repeats(t *testing.T, path string, l scenarios.Lock, times int) {
	sc := load(t, path, []scenarios.Lock{l})
	t.Run(sc.Name+"/"+l.Name, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		var first *trace.Trace
		for i := range 2 * times {
			runtime.GOMAXPROCS(1 + i%2)
			now := play(t, sc, l, 3, fence.None).Modes[0].Trace
			if first == nil {
				first = now
			}
			if d := trace.Diff(first, now); d != nil {
				t.Fatalf("run %d differs: %v", i+1, d)
			}
		}
	})
}

// Fails reports an error unless Check at its default settings fails a lock, from the first seed on. It returns what
// Check says.
func Fails(t *testing.T, l scenarios.Lock) string {
	t.Helper()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		scenarios.Check(f, l, scenarios.Options{Seed: 1, Dir: t.TempDir()})
	}()
	<-done
	if f.text == "" {
		t.Errorf("Check passed %s", l.Name)
	}
	return f.text
}

// failing is a test that keeps the first failure.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper()        {}
func (f *failing) Log(...any)     {}
func (f *failing) Fatal(a ...any) { f.text = fmt.Sprint(a...); runtime.Goexit() }
func (f *failing) Fatalf(format string, a ...any) {
	f.text = fmt.Sprintf(format, a...)
	runtime.Goexit()
}

// NextGrant plays a lock of two clients of which the first works for 20 s, with a fault after 6 s, and returns when the
// second is granted the lock, 0 for never, and whether the fault was felt.
func NextGrant(t *testing.T, l scenarios.Lock, world, fault string) (at time.Duration, felt bool) {
	t.Helper()
	sc, err := scenarios.Parse("by-hand.yaml", fmt.Appendf(nil, `name: by-hand
world: {%s, clients: 2}
lock: {kind: %s, ttl: 15s}
workload: {rounds: 1, hold: 20s, stagger: 1s, checks_until: lost}
faults:
  - {at: 6s, %s}
`, world, l.Name, fault), l)
	if err != nil {
		t.Fatal(err)
	}
	m := play(t, sc, l, 1, fence.None).Modes[0]
	for _, g := range m.History.Grants {
		if g.Client == "c1" {
			at = m.History.Timing.At[g.Granted-1]
		}
	}
	return at, m.FaultsFelt[0]
}
