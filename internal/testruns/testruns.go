// Package testruns has helpers for tests of several packages that run
// scenarios. An error ends the test.
package testruns

import (
	"errors"
	"math"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// OnlyWhole skips a test that takes many runs unless LOCKSIM_SOAK is 1: another test has a part of what it does.
func OnlyWhole(t testing.TB) {
	t.Helper()
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		t.Skip("it takes many runs: make soak has it")
	}
}

// Soak is full times LOCKSIM_SOAK, at least 2: the factor is 1 for make soak
// and less in CI. Without the variable the factor is fallback, with -short a
// tenth of it.
func Soak(t testing.TB, full int, fallback float64) int {
	factor := fallback
	if s := os.Getenv("LOCKSIM_SOAK"); s != "" {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || f <= 0 {
			t.Fatalf("LOCKSIM_SOAK=%s: give a factor such as 1 or 0.1", s)
		}
		factor = f
	} else if testing.Short() {
		factor /= 10
	}
	return max(int(math.Round(float64(full)*factor)), 2)
}

// Parse parses a scenario.
func Parse(t testing.TB, text string) *file.Scenario {
	t.Helper()
	sc, err := file.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// Format is the text of a scenario.
func Format(t testing.TB, sc *file.Scenario) string {
	t.Helper()
	text, err := file.Format(sc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// locks are the locks that [Kind] has made, by name: their runs share the compiled
// scripts.
var locks sync.Map

// Kind is a lock of locksim.
func Kind(t testing.TB, name string) subject.Lock {
	t.Helper()
	if l, ok := locks.Load(name); ok {
		return l.(subject.Lock)
	}
	l, err := redislocks.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	locks.Store(name, l)
	return l
}

// Load loads a scenario of the library and the lock that it names.
func Load(t testing.TB, name string) (*file.Scenario, subject.Lock) {
	t.Helper()
	sc, err := file.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return sc, Kind(t, sc.Lock.Kind)
}

// Play runs a scenario.
func Play(t testing.TB, sc *file.Scenario, l subject.Lock, opts play.RunOptions) *outcome.Outcome {
	t.Helper()
	o, err := play.Run(sc, l, opts)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// RefusedOrPlayed fails the test if a run ended with a fault of the harness: a
// run must succeed, or refuse its input.
func RefusedOrPlayed(t testing.TB, sc *file.Scenario, err error) {
	t.Helper()
	if _, ok := errors.AsType[*file.InputError](err); ok || err == nil {
		return
	}
	source, formatErr := file.Format(sc)
	t.Fatalf("%v\n%s%v", err, source, formatErr)
}

// SameStory compares the content of scenarios, not their files and positions.
func SameStory() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreUnexported(file.Scenario{}), cmpopts.IgnoreFields(file.Scenario{}, "File", "Source"),
		cmpopts.IgnoreTypes(faults.Pos{}), cmpopts.EquateEmpty(),
	}
}

// Choices makes the choices of Draw by rapid, which can then shrink a failure.
type Choices struct{ *rapid.T }

// Below draws a number.
func (s Choices) Below(n int) int { return rapid.IntRange(0, n-1).Draw(s.T, "choice") }

// Spaces are a space with everything, one without faults, and those of the
// locks of locksim.
func Spaces(t testing.TB) []spaces.Space {
	t.Helper()
	all := []spaces.Space{{
		Redis: 3, Replicas: 2, Nested: 2, MaxFaults: 12,
		Waits: []file.WaitMode{file.WaitPoll, file.WaitNotify}, Profiles: []file.ClientProfile{file.ClientQuiet,
			file.ClientStock},
		Workloads: []file.WorkloadKind{file.WorkloadRegister, file.WorkloadTransfer, file.WorkloadFill},
	}, {Faults: []lock.Fault{}}}
	for _, name := range kinds.Names() {
		all = append(all, search.SpaceOf(Kind(t, name)))
	}
	return all
}
