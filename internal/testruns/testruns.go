// Package testruns has what the tests of several packages need to play scenarios:
// each function fails the test where it cannot do what it is asked for.
package testruns

import (
	"errors"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
)

// Soak is how much of a full-size test to run: 1 for make soak, less in CI,
// fallback otherwise.
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

// Parse is the scenario of a text.
func Parse(t testing.TB, text string) *play.Scenario {
	t.Helper()
	sc, err := play.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// Format is the text of a scenario.
func Format(t testing.TB, sc *play.Scenario) string {
	t.Helper()
	text, err := play.Format(sc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Kind is a lock that comes with locksim.
func Kind(t testing.TB, name string) play.Lock {
	t.Helper()
	l, err := play.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Load is a scenario of the library with the lock that it names.
func Load(t testing.TB, name string) (*play.Scenario, play.Lock) {
	t.Helper()
	sc, err := play.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return sc, Kind(t, sc.Lock.Kind)
}

// Play plays a scenario.
func Play(t testing.TB, sc *play.Scenario, l play.Lock, opts play.RunOptions) *play.Outcome {
	t.Helper()
	o, err := play.Run(sc, l, opts)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// RefusedOrPlayed fails the test where a run ended by a mistake of the harness: it
// must end well, or refuse its input.
func RefusedOrPlayed(t testing.TB, sc *play.Scenario, err error) {
	t.Helper()
	if _, ok := errors.AsType[*play.InputError](err); ok || err == nil {
		return
	}
	source, formatErr := play.Format(sc)
	t.Fatalf("%v\n%s%v", err, source, formatErr)
}

// SameStory compares what scenarios say, not where they stand.
func SameStory() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreUnexported(play.Scenario{}), cmpopts.IgnoreFields(play.Scenario{}, "File", "Source"),
		cmpopts.IgnoreTypes(faults.Pos{}), cmpopts.EquateEmpty(),
	}
}

// Choices feeds Draw by rapid, which can then shrink what fails.
type Choices struct{ *rapid.T }

// Below draws a number.
func (s Choices) Below(n int) int { return rapid.IntRange(0, n-1).Draw(s.T, "choice") }

// Spaces are those of the locks that come with locksim, and before them one of
// everything and one without faults.
func Spaces(t testing.TB) []play.Space {
	t.Helper()
	all := []play.Space{{
		Redis: 3, Replicas: 2, Nested: 2, MaxFaults: 12,
		Waits: []play.WaitMode{play.WaitPoll, play.WaitNotify}, Profiles: []play.ClientProfile{play.ClientQuiet, play.ClientStock},
		Workloads: []play.WorkloadKind{play.WorkloadRegister, play.WorkloadTransfer},
	}, {Faults: []lock.Fault{}}}
	for _, name := range kinds.Names() {
		all = append(all, play.SpaceOf(Kind(t, name)))
	}
	return all
}
